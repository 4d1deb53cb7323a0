import {
  type Fault,
  type FetchedMedia,
  fault,
  type MediaByUrl,
  type Result,
  remoteMediaFault,
  remoteMediaOf,
  type Turn,
  unreachable,
} from '@headgate/protocols';
import type { Wire } from '../../catalogue/wire.ts';
import type { MediaProblem } from '../../ports/gateway.ts';
import { crowded } from '../../route/faults.ts';
import type { Call } from '../request.ts';

/** The request in no protocol's words, read when the first attempt needs it and kept for the others. */
export function turnOf(call: Call): Result<Turn, Fault> {
  const { id, codec } = call.protocol;
  if (codec === null) throw new Error(`${id} is never translated`);
  call.turn ??= codec.readTurn(call.inbound);
  return call.turn;
}

/** Media that a request names by URL and some target wants to be handed: fetched once for all attempts of the call. */
export class MediaShelf {
  readonly #call: Call;
  readonly #fetched = new Map<string, FetchedMedia>();
  /** Why some could not be had, so that no attempt asks for them again. */
  readonly #faults = new Map<string, Fault>();

  constructor(call: Call) {
    this.#call = call;
  }

  /** The length of all that was fetched. */
  bytes = 0;

  get fetched(): MediaByUrl {
    return this.#fetched;
  }

  /** Something would have to be fetched before this target could be asked. */
  isShort(wire: Wire): boolean {
    return this.#missing(wire).length > 0;
  }

  /** Why something that this target wants could not be had before; null when that is not known. */
  faultFor(wire: Wire): Fault | null {
    for (const url of this.#missing(wire)) {
      const known = this.#faults.get(url);
      if (known !== undefined) return known;
    }
    return null;
  }

  /**
   * Fetches what this target wants, and calls back, not within this call. Something that cannot be had is a fault of this
   * target's from now on: another one may not need it.
   * @returns lets go of it: `done` is called all the same.
   */
  fetch(wire: Wire, done: () => void): () => void {
    const { gateway, deadlineAt, inbound } = this.#call;
    const hangUp = new AbortController();
    const withinMs = deadlineAt - gateway.clock.monotonic();
    const fetching = gateway.media.fetch(this.#missing(wire), withinMs, hangUp.signal, inbound.memory);
    void fetching.then((fetched) => {
      if (!fetched.ok) this.#noteFault(fetched.error.url, fetched.error.problem);
      else for (const [url, media] of fetched.value) this.#put(url, media);
      done();
    });
    return () => hangUp.abort();
  }

  #put(url: string, media: FetchedMedia): void {
    this.#fetched.set(url, media);
    this.bytes += media.base64.length;
  }

  #noteFault(url: string, problem: MediaProblem): void {
    const turn = turnOf(this.#call);
    this.#faults.set(url, turn.ok ? faultOf(turn.value, url, problem) : turn.error);
  }

  /** A request that cannot be read is refused where it is encoded. */
  #missing({ protocol: { codec }, isTranslated }: Wire): readonly string[] {
    if (!isTranslated || codec === null || this.#call.protocol.codec === null) return [];
    const turn = turnOf(this.#call);
    if (!turn.ok) return [];
    return remoteMediaOf(turn.value, codec.mediaByUrl).filter((url) => !this.#fetched.has(url));
  }
}

function faultOf(turn: Turn, url: string, problem: MediaProblem): Fault {
  if (problem.kind === 'crowded') return crowded();
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
    case 'crowded':
      return null;
    default:
      return unreachable(problem);
  }
}
