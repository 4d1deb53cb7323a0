import {
  concatBytes,
  type FetchedMedia,
  fail,
  type MediaByUrl,
  type Result,
  succeed,
} from '@headgate/protocols';
import type { MemoryShare } from '../ports/data-plane.ts';
import type { MediaFailure, MediaFetcher, MediaProblem } from '../ports/gateway.ts';
import type {
  UpstreamClient,
  UpstreamExchange,
  UpstreamFailure,
  UpstreamHandler,
  UpstreamHead,
} from '../ports/upstream.ts';

/** Bounds of the media that calls name. Sizes in bytes, times in milliseconds. */
const mediaLimits = {
  itemBytesMax: 20 * 1024 * 1024,
  /** All that one call names, together. */
  callBytesMax: 50 * 1024 * 1024,
  itemsMax: 20,
  /** At a time, of one call. */
  parallelMax: 4,
  /** Calls that fetch at a time. */
  callsMax: 16,
  timeoutMs: 10_000,
  redirectsMax: 3,
};
export type MediaLimits = Readonly<typeof mediaLimits>;

export interface MediaFetcherOptions {
  /** A client of its own for every call: its connections lead wherever callers like, and are not kept. */
  readonly openClient: () => UpstreamClient;
  /** The operator's word that callers may name addresses that are not public. */
  readonly allowPrivate: boolean;
  readonly limits?: Partial<MediaLimits>;
}

export function openMediaFetcher({ openClient, allowPrivate, limits }: MediaFetcherOptions): MediaFetcher {
  const { callsMax, itemsMax, ...rest } = { ...mediaLimits, ...limits };
  let calls = 0;
  return {
    async fetch(urls, withinMs, signal, memory) {
      const [first = ''] = urls;
      if (urls.length > itemsMax) return fail({ url: first, problem: { kind: 'too-many' } });
      if (calls >= callsMax) return fail({ url: first, problem: { kind: 'busy' } });
      calls++;
      const client = openClient();
      const timeoutMs = Math.max(0, Math.min(rest.timeoutMs, withinMs));
      const { redirectsMax, itemBytesMax: bytesMax } = rest;
      const allowance = { left: rest.callBytesMax };
      const way = { client, allowPrivate, limits: { bytesMax, redirectsMax, timeoutMs }, allowance, memory };
      const end = AbortSignal.any([signal, AbortSignal.timeout(Math.ceil(Math.max(0, withinMs)))]);
      try {
        return await fetchAll(urls, way, rest.parallelMax, end);
      } finally {
        calls--;
        // Not waited for: it ends what a failure has left under way.
        void client.close();
      }
    },
  };
}

/** A few at a time; none is begun after a failure, or after the end of the time there is. */
async function fetchAll(
  urls: readonly string[],
  way: DownloadWay,
  parallelMax: number,
  end: AbortSignal,
): Promise<Result<MediaByUrl, MediaFailure>> {
  const fetched = new Map<string, FetchedMedia>();
  const waiting = [...urls];
  const failure = Promise.withResolvers<MediaFailure>();
  let hasFailed = false;
  const failWith = (url: string, problem: MediaProblem): void => {
    hasFailed = true;
    failure.resolve({ url, problem });
  };
  const runOut = (): void => failWith(urls[0] ?? '', { kind: 'timed-out' });
  if (end.aborted) runOut();
  else end.addEventListener('abort', runOut, { once: true });
  const work = async (): Promise<void> => {
    for (let url = waiting.shift(); url !== undefined && !hasFailed; url = waiting.shift()) {
      const media = await download(url, way);
      if (media.ok) fetched.set(url, media.value);
      else failWith(url, media.error);
    }
  };
  const all = Promise.all(Array.from({ length: Math.min(parallelMax, urls.length) }, work));
  const failed = await Promise.race([failure.promise, all.then(() => null)]);
  return failed === null ? succeed(fetched) : fail(failed);
}

/** Bounds of one thing that is fetched. */
interface DownloadLimits {
  readonly bytesMax: number;
  readonly redirectsMax: number;
  readonly timeoutMs: number;
}

/** Bytes that all downloads of one call may still take. */
interface ByteAllowance {
  left: number;
}

interface DownloadWay {
  readonly client: UpstreamClient;
  readonly allowPrivate: boolean;
  readonly limits: DownloadLimits;
  readonly allowance: ByteAllowance;
  readonly memory: MemoryShare;
}

/** Everything fetched is held as bytes, as text of four thirds of them, and within the request once more. */
const copies = 4;

type Downloaded = Result<FetchedMedia, MediaProblem>;

const urlCharsMax = 8_192;
const fetchable = /^(?:(?:image|audio)\/[\w.+-]+|application\/pdf|text\/plain)$/;
const requestHeaders = ['accept', 'image/*, audio/*, application/pdf, text/plain', 'user-agent', 'headgate'];

/** Fetches one thing. Every hop of a redirect is a request of its own, whose address the client checks anew. */
function download(url: string, way: DownloadWay): Promise<Downloaded> {
  return new Promise((resolve) => new Download(way, resolve).start(url));
}

class Download {
  readonly #way: DownloadWay;
  readonly #resolve: (downloaded: Downloaded) => void;
  #timer: NodeJS.Timeout | undefined;
  #exchange: UpstreamExchange | null = null;
  #redirects = 0;
  #isDone = false;

  constructor(way: DownloadWay, resolve: (downloaded: Downloaded) => void) {
    this.#way = way;
    this.#resolve = resolve;
  }

  start(url: string): void {
    this.#timer = setTimeout(() => this.#fail({ kind: 'timed-out' }), this.#way.limits.timeoutMs);
    this.#request(URL.parse(url));
  }

  #request(url: URL | null): void {
    if (url === null || !isFetchable(url)) return this.#fail({ kind: 'not-a-url' });
    const { client, allowPrivate } = this.#way;
    const request = {
      origin: url.origin,
      path: url.pathname + url.search,
      method: 'GET',
      headers: requestHeaders,
      body: [],
      channelId: 'media',
      allowPrivate,
      fresh: true,
    } as const;
    const hop = new Hop(this.#way, {
      fail: (problem) => this.#fail(problem),
      done: (media) => this.#finish(succeed(media)),
      redirect: (location) => this.#redirect(URL.parse(location, url)),
    });
    this.#exchange = client.send(request, hop);
  }

  #redirect(url: URL | null): void {
    this.#exchange?.abort();
    if (this.#isDone) return;
    if (++this.#redirects > this.#way.limits.redirectsMax) this.#fail({ kind: 'redirected' });
    else this.#request(url);
  }

  #fail(problem: MediaProblem): void {
    this.#exchange?.abort();
    this.#finish(fail(problem));
  }

  #finish(downloaded: Downloaded): void {
    if (this.#isDone) return;
    this.#isDone = true;
    clearTimeout(this.#timer);
    this.#resolve(downloaded);
  }
}

/** A URL with a name and a password in it is meant for someone who knows them. */
function isFetchable(url: URL): boolean {
  const isWeb = url.protocol === 'https:' || url.protocol === 'http:';
  return isWeb && url.username === '' && url.password === '' && url.href.length <= urlCharsMax;
}

interface HopEnd {
  fail(problem: MediaProblem): void;
  done(media: FetchedMedia): void;
  redirect(location: string): void;
}

/** One request and its answer. What comes after its end is not looked at. */
class Hop implements UpstreamHandler {
  readonly #way: DownloadWay;
  readonly #end: HopEnd;
  readonly #chunks: Uint8Array[] = [];
  #mediaType: string | null = null;
  #length = 0;
  #isOver = false;

  constructor(way: DownloadWay, end: HopEnd) {
    this.#way = way;
    this.#end = end;
  }

  onHead({ status, headers }: UpstreamHead): void {
    const location = headers.get('location');
    if (status >= 300 && status < 400 && location !== undefined)
      return this.#over(() => this.#end.redirect(location));
    if (status !== 200) return this.#fail({ kind: 'refused', status });
    const [type = ''] = (headers.get('content-type') ?? '').split(';');
    const mediaType = type.trim().toLowerCase();
    const isEncoded = !/^(?:identity)?$/i.test(headers.get('content-encoding') ?? '');
    if (!fetchable.test(mediaType) || isEncoded) return this.#fail({ kind: 'wrong-type' });
    this.#mediaType = mediaType;
    if (Number(headers.get('content-length') ?? 0) > this.#way.limits.bytesMax)
      this.#fail({ kind: 'too-large' });
  }

  onData(chunk: Uint8Array): void {
    if (this.#isOver) return;
    this.#length += chunk.length;
    this.#way.allowance.left -= chunk.length;
    const isTooLarge = this.#length > this.#way.limits.bytesMax || this.#way.allowance.left < 0;
    if (isTooLarge) this.#fail({ kind: 'too-large' });
    else if (!this.#way.memory.take(copies * chunk.length)) this.#fail({ kind: 'crowded' });
    else this.#chunks.push(new Uint8Array(chunk));
  }

  onEnd(): void {
    const mediaType = this.#mediaType;
    if (mediaType === null) return this.#fail({ kind: 'unreachable' });
    this.#over(() => this.#end.done({ mediaType, base64: concatBytes(this.#chunks).toBase64() }));
  }

  onFailure({ kind }: UpstreamFailure): void {
    // Whoever has said of what type it is was reached.
    if (kind === 'garbled' && this.#mediaType !== null) this.#fail({ kind: 'wrong-type' });
    else this.#fail({ kind: kind === 'connect-timeout' ? 'timed-out' : 'unreachable' });
  }

  #fail(problem: MediaProblem): void {
    this.#over(() => this.#end.fail(problem));
  }

  #over(tell: () => void): void {
    if (this.#isOver) return;
    this.#isOver = true;
    tell();
  }
}
