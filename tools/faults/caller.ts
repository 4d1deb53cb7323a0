import { preferredWords, spareWords } from './scenes.ts';

/** Where a call goes, and how. */
export interface Route {
  readonly origin: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly model: string;
  readonly stream: boolean;
}

/** `whole`: all that was to be said, and its end. `passed-off`: an end, and too little before it. `failed`: no end, and the caller knows. */
export type Ending = 'whole' | 'passed-off' | 'failed';

export interface Seen {
  readonly ending: Ending;
  /** Whose words they were; null where that cannot be told. */
  readonly by: 'preferred' | 'spare' | null;
  readonly status: number;
  /** To the first word, or the end of what is no stream; null where none came. */
  readonly firstMs: number | null;
}

/** As long as a patient person waits for an answer that takes a fifth of a second. */
const patienceMs = 20_000;

const prompt = 'Tell me which of the two upstreams is the one that answers.';

/** Never rejects. */
export async function call({ origin, headers, model, stream }: Route): Promise<Seen> {
  const startedAt = performance.now();
  let text = '';
  let status = 0;
  let firstMs: number | null = null;
  let isEnded = false;
  try {
    const answer = await fetch(`${origin}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ model, stream, messages: [{ role: 'user', content: prompt }] }),
      signal: AbortSignal.timeout(patienceMs),
    });
    status = answer.status;
    const decoder = new TextDecoder();
    const body: AsyncIterable<Uint8Array> = answer.body ?? noBody();
    for await (const chunk of body) {
      text += decoder.decode(chunk, { stream: true });
      if (/"content": ?"[^"]/.test(text)) firstMs ??= performance.now() - startedAt;
    }
    isEnded = true;
  } catch {
    // A broken connection and an exhausted patience are what is looked for here.
  }
  const said = stream ? streamedWords(text) : wholeWords(text);
  return { ...judge(said, status === 200 && isEnded), status, firstMs };
}

/** An answer need not have one. */
async function* noBody(): AsyncGenerator<Uint8Array> {}

interface Said {
  readonly words: number;
  /** The answer itself says that this was all. */
  readonly isFinished: boolean;
}

function judge({ words, isFinished }: Said, hasEnded: boolean): Pick<Seen, 'ending' | 'by'> {
  if (!hasEnded || !isFinished) return { ending: 'failed', by: null };
  if (words < preferredWords) return { ending: 'passed-off', by: null };
  return {
    ending: 'whole',
    by: words === preferredWords ? 'preferred' : words === spareWords ? 'spare' : null,
  };
}

/** A stream is over at its end marker, or at a finish reason before a clean end; an error in it says that it is not. */
function streamedWords(text: string): Said {
  let said = '';
  let isFinished = false;
  for (const line of text.split('\n')) {
    if (!line.startsWith('data:')) continue;
    const data = line.slice(5).trim();
    if (data === '[DONE]') isFinished = true;
    const choice = readChoice(data);
    if (choice === 'error') return { words: 0, isFinished: false };
    said += choice?.delta?.content ?? '';
    if (typeof choice?.finish_reason === 'string') isFinished = true;
  }
  return { words: countWords(said), isFinished };
}

function wholeWords(text: string): Said {
  const choice = readChoice(text);
  if (choice === null || choice === 'error') return { words: 0, isFinished: false };
  return { words: countWords(choice.message?.content ?? ''), isFinished: true };
}

interface Choice {
  readonly delta?: { readonly content?: string | null };
  readonly message?: { readonly content?: string | null };
  readonly finish_reason?: string | null;
}

function readChoice(json: string): Choice | 'error' | null {
  try {
    const value = JSON.parse(json) as { readonly error?: unknown; readonly choices?: readonly Choice[] };
    if (value.error !== undefined && value.error !== null) return 'error';
    return value.choices?.[0] ?? null;
  } catch {
    return null;
  }
}

function countWords(text: string): number {
  return text.split(/\s+/).filter((word) => word !== '').length;
}
