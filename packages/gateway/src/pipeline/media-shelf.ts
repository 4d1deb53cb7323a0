import {
  type Fault,
  type FetchedMedia,
  fault,
  type MediaByUrl,
  remoteMediaFault,
  type Turn,
  unreachable,
} from '@headgate/protocols';
import type { MediaFetcher, MediaProblem } from '../ports/media-fetcher.ts';

/** What has been fetched for a call, or could not be, so that no attempt asks for it again. */
export class MediaShelf {
  readonly #fetcher: MediaFetcher;
  readonly #fetched = new Map<string, FetchedMedia>();
  readonly #faults = new Map<string, Fault>();

  constructor(fetcher: MediaFetcher) {
    this.#fetcher = fetcher;
  }

  get fetched(): MediaByUrl {
    return this.#fetched;
  }

  lacks(url: string): boolean {
    return !this.#fetched.has(url);
  }

  /** Null when all of them could be had. */
  async fetch(
    turn: Turn,
    urls: readonly string[],
    withinMs: number,
    signal: AbortSignal,
  ): Promise<Fault | null> {
    const fetched = await this.#fetcher.fetch(urls, withinMs, signal);
    if (fetched.ok) {
      for (const [url, media] of fetched.value) this.#fetched.set(url, media);
      return null;
    }
    const { url, problem } = fetched.error;
    const unfetched = faultOf(turn, url, problem);
    this.#faults.set(url, unfetched);
    return unfetched;
  }

  /** Why one of them could not be had before; null when that is not known. */
  faultOf(urls: readonly string[]): Fault | null {
    for (const url of urls) {
      const known = this.#faults.get(url);
      if (known !== undefined) return known;
    }
    return null;
  }
}

function faultOf(turn: Turn, url: string, problem: MediaProblem): Fault {
  const words = wordsOf(problem);
  return words === null ? fault('overloaded') : remoteMediaFault(turn, url, words);
}

/** Follows `a URL that`; null where the URL is not to blame. */
function wordsOf(problem: MediaProblem): string | null {
  switch (problem.kind) {
    case 'not-a-url':
      return 'is none of http or https without a user name';
    case 'unreachable':
      return 'cannot be reached at a public address';
    case 'timed-out':
      return 'did not answer in time';
    case 'redirected':
      return 'redirects too often';
    case 'wrong-type':
      return 'leads to something other than an image, a sound, a PDF or plain text';
    case 'too-large':
      return 'leads to more than can be fetched for one request';
    case 'too-many':
      return 'is one of more than can be fetched for one request';
    case 'refused':
      return `answered with status ${problem.status}`;
    case 'busy':
      return null;
    default:
      return unreachable(problem);
  }
}
