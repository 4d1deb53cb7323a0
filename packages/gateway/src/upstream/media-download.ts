import { concatBytes, type FetchedMedia, fail, type Result, succeed } from '@headgate/protocols';
import type { MediaProblem } from '../ports/media-fetcher.ts';
import type {
  UpstreamClient,
  UpstreamExchange,
  UpstreamFailure,
  UpstreamHandler,
  UpstreamHead,
} from '../ports/upstream-client.ts';

/** What one thing that is fetched may cost. */
export interface DownloadLimits {
  readonly bytesMax: number;
  readonly redirectsMax: number;
  readonly timeoutMs: number;
}

/** Bytes that all downloads of one call may still take. */
export interface ByteAllowance {
  left: number;
}

export interface DownloadWay {
  readonly client: UpstreamClient;
  readonly allowPrivate: boolean;
  readonly limits: DownloadLimits;
  readonly allowance: ByteAllowance;
}

type Downloaded = Result<FetchedMedia, MediaProblem>;

const urlCharsMax = 8_192;
const fetchable = /^(?:(?:image|audio)\/[\w.+-]+|application\/pdf|text\/plain)$/;
const requestHeaders = ['accept', 'image/*, audio/*, application/pdf, text/plain', 'user-agent', 'headgate'];

/** Fetches one thing. Every hop of a redirect is a request of its own, whose address the client checks anew. */
export function download(url: string, way: DownloadWay): Promise<Downloaded> {
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
    else this.#chunks.push(chunk);
  }

  onEnd(): void {
    const mediaType = this.#mediaType;
    if (mediaType === null) return this.#fail({ kind: 'unreachable' });
    this.#over(() => this.#end.done({ mediaType, base64: concatBytes(this.#chunks).toBase64() }));
  }

  onFailure({ kind }: UpstreamFailure): void {
    this.#fail({ kind: kind === 'connect-timeout' ? 'timed-out' : 'unreachable' });
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
