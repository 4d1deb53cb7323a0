/** The answer of `GET /v1/usage`, as far as the page shows it. */
export interface KeyUsageAnswer {
  readonly key: string;
  readonly planName: string;
  readonly status: 'active' | 'exhausted';
  readonly balance: string;
  readonly balance_of: 'account' | 'key';
  readonly remaining: string | null;
  readonly expires_at: string | null;
  readonly quota: LimitOfMoney | null;
  readonly budgets: readonly LimitOfMoney[];
  readonly rate_limits: readonly LimitOfRate[];
  readonly usage: { readonly today: SummedUsage; readonly total: SummedUsage };
  readonly daily_usage: readonly (SummedUsage & { readonly date: string })[];
  readonly model_stats: readonly (SummedUsage & { readonly model: string })[];
  readonly data: readonly UsedCall[];
  readonly next_cursor: string | null;
}

export interface SummedUsage {
  readonly calls: number;
  readonly charge: string;
  readonly input_tokens: number;
  readonly output_tokens: number;
}

export interface LimitOfMoney {
  readonly of: string;
  readonly kind: string;
  readonly limit: string;
  readonly used: string;
  readonly reset_at: string | null;
}

export interface LimitOfRate {
  readonly of: string;
  readonly kind: string;
  readonly model: string | null;
  readonly limit: number;
  readonly used: number;
  readonly reset_at: string | null;
}

export interface UsedCall {
  readonly trace_id: string;
  readonly status: string;
  readonly model: string;
  readonly charge: string;
  readonly billed: boolean;
  readonly unbilled_reason: string | null;
  readonly usage: { readonly input_tokens: number; readonly output_tokens: number };
  readonly duration_ms: number | null;
  readonly started_at: string;
}

/** A refusal of the API, in its own words. */
export class UsageRefusal extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Asks the API about a key, which goes in the header of this one request and nowhere else. */
export async function askUsage(
  apiOrigin: string,
  secret: string,
  parameters: Readonly<Record<string, string>>,
): Promise<KeyUsageAnswer> {
  const answer = await fetch(`${apiOrigin}/v1/usage?${new URLSearchParams(parameters)}`, {
    headers: { authorization: `Bearer ${secret}` },
    credentials: 'omit',
    referrerPolicy: 'no-referrer',
    cache: 'no-store',
  }).catch((error: unknown) => {
    throw new UsageRefusal(0, String(error));
  });
  if (answer.ok) return (await answer.json()) as KeyUsageAnswer;
  throw new UsageRefusal(answer.status, wordsIn(await answer.text()));
}

function wordsIn(text: string): string {
  try {
    const body = JSON.parse(text) as { readonly error?: { readonly message?: string } };
    return body.error?.message ?? text;
  } catch {
    return text;
  }
}
