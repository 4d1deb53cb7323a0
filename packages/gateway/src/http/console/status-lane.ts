import type { IncomingMessage, ServerResponse } from 'node:http';
import type { StatusFile } from '../../ports/status.ts';

/** The page as it is kept, and a way to have it made. */
export interface StatusPageSource {
  readonly files: ReadonlyMap<string, StatusFile> | null;
  /** Resolves when it is made, or could not be. */
  make(): Promise<void>;
}

/** Answers are given in rounds: so many for each millisecond since the last one, and so many at the most, which take about two milliseconds. */
const roundMs = 5;
const answersPerMs = 7;
const answersMax = 50;
/** Requests that wait for a later round; whoever comes beyond is cut off, which costs us least. */
const waitingMax = 500;

/**
 * Answers `/status…` from bytes that are there already, before any router sees the request. It is given nothing but the page, reads no
 * cookie and asks no store, and however many ask, calls of models keep their turns of the loop.
 */
export class StatusLane {
  readonly #source: StatusPageSource;
  readonly #usualLanguage: 'en' | 'zh';
  readonly #waiting: (() => void)[] = [];
  /** Left of this round. */
  #left = answersMax;
  #roundAt = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor(source: StatusPageSource, usualLanguage: 'en' | 'zh-CN') {
    this.#source = source;
    this.#usualLanguage = usualLanguage === 'en' ? 'en' : 'zh';
  }

  /** False where the request is for another path. */
  answer(request: IncomingMessage, response: ServerResponse): boolean {
    const url = request.url ?? '';
    if (!url.startsWith('/status')) return false;
    const path = pathOf(url);
    if (path !== '/status.json' && path !== '/status' && !path.startsWith('/status/')) return false;
    if (this.#timer === null) this.#awaitRound();
    if (this.#left > 0) {
      this.#left--;
      this.#send(request, response, path);
    } else if (this.#waiting.length < waitingMax)
      this.#waiting.push(() => this.#send(request, response, path));
    else request.socket.destroy();
    return true;
  }

  #awaitRound(): void {
    this.#roundAt = performance.now();
    this.#timer = setTimeout(() => this.#nextRound(), roundMs);
  }

  #nextRound(): void {
    const sinceMs = performance.now() - this.#roundAt;
    this.#timer = null;
    this.#left = Math.min(answersMax, Math.round(sinceMs * answersPerMs));
    const round = this.#waiting.splice(0, this.#left);
    this.#left -= round.length;
    if (round.length > 0) this.#awaitRound();
    for (const send of round) send();
  }

  #send(request: IncomingMessage, response: ServerResponse, path: string): void {
    if (this.#source.files !== null) return this.#sendFile(request, response, path, this.#source.files);
    void this.#source.make().then(() => {
      this.#sendFile(request, response, path, this.#source.files ?? new Map());
    });
  }

  #sendFile(
    request: IncomingMessage,
    response: ServerResponse,
    path: string,
    files: ReadonlyMap<string, StatusFile>,
  ): void {
    const { method, headers } = request;
    if (method !== 'GET' && method !== 'HEAD')
      return sendText(response, 405, 'method not allowed', { allow: 'GET, HEAD' });
    if (files.size === 0) return sendText(response, 503, 'not made yet', { 'retry-after': '5' });
    const isChoice = path === '/status' || path === '/status/';
    const language = isChoice ? this.#languageFor(headers['accept-language'] ?? '') : null;
    const file = files.get(language === null ? path : `/status/${language}`);
    if (file === undefined) return sendText(response, 404, 'There is no such page.', {});
    const known = headers['if-none-match'];
    const isKnown = known !== undefined && (known === '*' || known.includes(file.etag.slice(1, -1)));
    const packed = /\bgzip\b/.test(String(headers['accept-encoding'] ?? '')) ? file.gzipped : null;
    const bytes = packed ?? file.bytes;
    response.writeHead(isKnown ? 304 : 200, {
      ...pageHeaders,
      'content-type': file.type,
      etag: `W/${file.etag}`,
      'cache-control': path.startsWith('/status/style-') ? forEver : forAMoment,
      vary: language === null ? 'accept-encoding' : 'accept-encoding, accept-language',
      ...(language === null ? {} : { 'content-language': language === 'en' ? 'en' : 'zh-CN' }),
      ...(isKnown ? {} : { 'content-length': bytes.length }),
      ...(packed === null || isKnown ? {} : { 'content-encoding': 'gzip' }),
    });
    response.end(isKnown || method === 'HEAD' ? undefined : bytes);
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
    return wanted.find(({ language }) => language !== null)?.language ?? this.#usualLanguage;
  }
}

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

/** Names of models may be written with escapes. */
function pathOf(url: string): string {
  const path = url.split('?', 1)[0] ?? '';
  if (!path.includes('%')) return path;
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

function sendText(
  response: ServerResponse,
  status: number,
  text: string,
  headers: Record<string, string>,
): void {
  response.writeHead(status, {
    ...pageHeaders,
    ...headers,
    'content-type': 'text/plain; charset=utf-8',
    'cache-control': 'no-store',
  });
  response.end(`${text}\n`);
}
