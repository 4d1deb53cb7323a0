import { type FetchedMedia, fail, type MediaByUrl, type Result, succeed } from '@headgate/protocols';
import type { MediaFailure, MediaFetcher, MediaProblem } from '../ports/media-fetcher.ts';
import type { UpstreamClient } from '../ports/upstream-client.ts';
import { type DownloadWay, download } from './media-download.ts';

/** What callers may have fetched. Sizes in bytes, times in milliseconds. */
export interface MediaLimits {
  readonly itemBytesMax: number;
  /** All that one call names, together. */
  readonly callBytesMax: number;
  readonly itemsMax: number;
  /** At a time, of one call. */
  readonly parallelMax: number;
  /** Calls that fetch at a time. */
  readonly callsMax: number;
  readonly timeoutMs: number;
  readonly redirectsMax: number;
}

const mediaLimits: MediaLimits = {
  itemBytesMax: 20 * 1024 * 1024,
  callBytesMax: 50 * 1024 * 1024,
  itemsMax: 20,
  parallelMax: 4,
  callsMax: 16,
  timeoutMs: 10_000,
  redirectsMax: 3,
};

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
    async fetch(urls, withinMs, signal) {
      const [first = ''] = urls;
      if (urls.length > itemsMax) return fail({ url: first, problem: { kind: 'too-many' } });
      if (calls >= callsMax) return fail({ url: first, problem: { kind: 'busy' } });
      calls++;
      const client = openClient();
      const timeoutMs = Math.max(0, Math.min(rest.timeoutMs, withinMs));
      const { redirectsMax, itemBytesMax: bytesMax } = rest;
      const allowance = { left: rest.callBytesMax };
      const way = { client, allowPrivate, limits: { bytesMax, redirectsMax, timeoutMs }, allowance };
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
