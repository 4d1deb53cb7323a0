import type { StatusFile } from '../../ports/status.ts';

/** A request, as far as an answer depends on it: a cache looks at no other header. */
export interface StatusQuestion {
  readonly method: string;
  /** Path and query, as they came. */
  readonly target: string;
  /** By its name in lower case. */
  header(name: string): string | undefined;
}

/** An answer that is ready: in its parts, and as the bytes of a connection. */
export interface StatusAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | number>>;
  readonly body: Uint8Array | null;
  /** A connection that stays open is written these. */
  readonly bytes: Buffer;
  /** A connection that is closed behind them is written these. */
  lastBytes(): Buffer;
}

type Files = ReadonlyMap<string, StatusFile>;

/** Variants of answers that are kept ready; files are few, and other paths have one in common. */
const readyMax = 2_000;

/**
 * Answers to all that can be asked of the page, put together once for each file, second and variant: whoever asks next gets the same
 * bytes.
 */
export class StatusAnswers {
  readonly #usualLanguage: () => 'en' | 'zh-CN';
  readonly #ready = new Map<string, StatusAnswer>();
  /** The ready ones were made of these. */
  #files: Files | null = null;
  #second = 0;

  constructor(usualLanguage: () => 'en' | 'zh-CN') {
    this.#usualLanguage = usualLanguage;
  }

  /** `files` are those of now; empty where the page could not be made. */
  answerTo(question: StatusQuestion, files: Files, nowMs: number): StatusAnswer {
    const { method } = question;
    const second = Math.floor(nowMs / 1000);
    if (files !== this.#files || second !== this.#second || this.#ready.size > readyMax) this.#ready.clear();
    this.#files = files;
    this.#second = second;
    if (method !== 'GET' && method !== 'HEAD') return this.#text('method');
    if (files.size === 0) return this.#text('unmade');
    const path = pathOf(question.target);
    const isChoice = path === '/status' || path === '/status/';
    const language = isChoice ? this.#languageFor(question.header('accept-language') ?? '') : null;
    const file = files.get(language === null ? path : `/status/${language}`);
    if (file === undefined) return this.#text('unknown');
    const known = question.header('if-none-match');
    const isKnown = known !== undefined && (known === '*' || known.includes(file.etag.slice(1, -1)));
    const isPacked = file.gzipped !== null && /\bgzip\b/.test(question.header('accept-encoding') ?? '');
    const variant = `${file.path} ${language} ${isKnown ? 'known' : method} ${isPacked}`;
    return this.#once(variant, () =>
      fileAnswer(file, { language, isKnown, isPacked, isHead: method === 'HEAD' }),
    );
  }

  #text(kind: keyof typeof texts): StatusAnswer {
    return this.#once(kind, () => texts[kind]);
  }

  #once(variant: string, make: () => AnswerParts): StatusAnswer {
    const found = this.#ready.get(variant);
    if (found !== undefined) return found;
    const made = make();
    const second = this.#second;
    const bytes = bytesOf(made, second, 'keep-alive');
    const answer = { ...made, bytes, lastBytes: () => bytesOf(made, second, 'close') };
    this.#ready.set(variant, answer);
    return answer;
  }

  /** The first that the reader names of the languages that there are, by its weight. */
  #languageFor(accepted: string): 'en' | 'zh' {
    const wanted = accepted
      .slice(0, 200)
      .split(',')
      .map((part) => {
        const [tag = '', ...parameters] = part.trim().toLowerCase().split(';');
        const weight = Number(
          parameters
            .find((each) => each.trim().startsWith('q='))
            ?.trim()
            .slice(2) ?? 1,
        );
        return {
          language: tag.startsWith('zh') ? ('zh' as const) : tag.startsWith('en') ? ('en' as const) : null,
          weight,
        };
      })
      .filter(({ weight }) => weight > 0)
      .toSorted((a, b) => b.weight - a.weight);
    return (
      wanted.find(({ language }) => language !== null)?.language ??
      (this.#usualLanguage() === 'en' ? 'en' : 'zh')
    );
  }
}

/** True where a request is for the page, whatever becomes of it. */
export function isOfStatus(target: string): boolean {
  if (!target.startsWith('/status')) return false;
  const path = pathOf(target);
  return path === '/status.json' || path === '/status' || path.startsWith('/status/');
}

type AnswerParts = Pick<StatusAnswer, 'status' | 'headers' | 'body'>;

interface Variant {
  readonly language: 'en' | 'zh' | null;
  readonly isKnown: boolean;
  readonly isPacked: boolean;
  readonly isHead: boolean;
}

function fileAnswer(file: StatusFile, { language, isKnown, isPacked, isHead }: Variant): AnswerParts {
  const body = (isPacked ? file.gzipped : null) ?? file.bytes;
  return {
    status: isKnown ? 304 : 200,
    headers: {
      ...pageHeaders,
      'content-type': file.type,
      etag: `W/${file.etag}`,
      'cache-control': file.path.startsWith('/status/style-') ? forEver : forAMoment,
      vary: language === null ? 'accept-encoding' : 'accept-encoding, accept-language',
      ...(language === null ? {} : { 'content-language': language === 'en' ? 'en' : 'zh-CN' }),
      ...(isKnown ? {} : { 'content-length': body.length }),
      ...(isPacked && !isKnown ? { 'content-encoding': 'gzip' } : {}),
    },
    body: isKnown || isHead ? null : body,
  };
}

function bytesOf(
  { status, headers, body }: AnswerParts,
  second: number,
  connection: 'keep-alive' | 'close',
): Buffer {
  const lines = [
    `HTTP/1.1 ${status} ${reasons[status] ?? ''}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    `date: ${new Date(second * 1000).toUTCString()}`,
    `connection: ${connection}`,
    '\r\n',
  ];
  return Buffer.concat([Buffer.from(lines.join('\r\n'), 'latin1'), body ?? new Uint8Array(0)]);
}

const reasons: Readonly<Record<number, string>> = {
  200: 'OK',
  304: 'Not Modified',
  404: 'Not Found',
  405: 'Method Not Allowed',
  503: 'Service Unavailable',
};

/** Nothing but what lies beside the page is loaded, and no script runs. */
const pageHeaders = {
  'content-security-policy':
    "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'access-control-allow-origin': '*',
};

/** The page changes every five minutes; a cache before it may go on with an old one while nobody answers. */
const forAMoment = 'public, max-age=15, stale-while-revalidate=60, stale-if-error=86400';
const forEver = 'public, max-age=31536000, immutable';

const texts = {
  method: textAnswer(405, 'method not allowed', { allow: 'GET, HEAD' }),
  unmade: textAnswer(503, 'not made yet', { 'retry-after': '5' }),
  unknown: textAnswer(404, 'There is no such page.', {}),
};

function textAnswer(status: number, text: string, headers: Readonly<Record<string, string>>): AnswerParts {
  const body = Buffer.from(`${text}\n`);
  return {
    ...{ status, body },
    headers: {
      ...pageHeaders,
      ...headers,
      'content-type': 'text/plain; charset=utf-8',
      'cache-control': 'no-store',
      'content-length': body.length,
    },
  };
}

/** Names of models may be written with escapes. */
function pathOf(target: string): string {
  const path = target.split('?', 1)[0] ?? '';
  if (!path.includes('%')) return path;
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
