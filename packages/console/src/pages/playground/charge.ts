/** The entry of a call, as far as the playground shows it. */
export interface PlayCharge {
  readonly charge: string;
  readonly billed: boolean;
  readonly reason: string | null;
}

const tries = 8;
const pauseMs = 400;

/** Asks the API what a call was charged, until its entry is there; null where it does not come. */
export async function chargeOf(
  apiOrigin: string,
  headers: Readonly<Record<string, string>>,
  traceId: string,
): Promise<PlayCharge | null> {
  for (let attempt = 0; attempt < tries; attempt++) {
    const answer = await fetch(`${apiOrigin}/v1/usage?trace_id=${traceId}`, {
      headers,
      credentials: 'omit',
    }).catch(() => null);
    // A key that is not known has no entries, and will have none.
    if (answer?.status === 401) return null;
    const body = answer?.ok === true ? ((await answer.json()) as UsageOfTrace) : null;
    const [entry] = body?.data ?? [];
    if (entry !== undefined && entry.status !== 'open')
      return { charge: entry.charge, billed: entry.billed, reason: entry.unbilled_reason };
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
  return null;
}

interface UsageOfTrace {
  readonly data: readonly {
    readonly status: string;
    readonly charge: string;
    readonly billed: boolean;
    readonly unbilled_reason: string | null;
  }[];
}
