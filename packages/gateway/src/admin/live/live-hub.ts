import type { EventPhase, OperatorEvent } from '../../ports/events.ts';
import type { CallEntry } from '../../ports/ledger.ts';
import type { LiveSink } from '../../ports/live.ts';
import type { ServiceChange } from '../../route/attempt.ts';
import { type CallReader, callLine } from '../call-words.ts';
import { includes, type Scope } from '../people/actor.ts';
import { LiveRates } from './live-rates.ts';

export const liveTopics = ['overview', 'calls', 'channels', 'events'] as const;
export type LiveTopic = (typeof liveTopics)[number];

/** Calls that have ended since the last frame; those beyond are counted and not listed. */
const endedMax = 2_000;
/** Calls that a frame lists. */
const listedMax = 25;
const changesMax = 100;
/** The name of the audience that sees all accounts. */
const everybody = '*';
const touchedMax = 2_000;
const frameMs = 250;
/** A frame of rates each second. */
const framesOfRates = 4;
/** Frames that are kept of an audience, for readers who come back, and how long after the last of them has left. */
const keptFrames = 64;
const keptMs = 30_000;
const audiencesMax = 100;
export const readersMax = 200;

/** A frame of the stream, as it is sent. */
export interface LiveFrame {
  readonly topic: LiveTopic;
  readonly text: string;
}

/** Somebody who looks on. */
export interface LiveReader {
  readonly topics: ReadonlySet<LiveTopic>;
  send(frame: LiveFrame): void;
  end(reason: LiveEnd): void;
}

/** How these channels stand, as many as may be told of at once. */
type StandingsOf = (channelIds: Iterable<string>) => readonly object[];

/** Why a stream ended. */
export type LiveEnd = 'signed-out' | 'restart';

/** All who see the same accounts get the same frames, which are made once. */
interface Audience {
  readonly scope: Scope;
  readonly name: string;
  readonly readers: Set<LiveReader>;
  readonly rates: LiveRates;
  readonly frames: (LiveFrame & { readonly number: number })[];
  frameNumber: number;
  emptySinceMs: number | null;
}

export interface LiveHubOptions {
  readonly now: () => number;
  /** Calls under way. */
  openCalls(): number;
  /** The name of a key; its id where it has none. */
  nameOf(keyId: string): string;
  /** The events that have begun or ended since a mark; without one, the mark of now. */
  followEvents(
    mark: number | null,
  ): Promise<{ readonly events: readonly OperatorEvent[]; readonly mark: number }>;
  /** Calls back after so long, again and again. @returns ends that. */
  every(ms: number, work: () => void): () => void;
}

/**
 * Tells all who look on what happens in this process. While nobody does, a call costs the look at one field. While somebody does, it costs
 * a push into a list of bounded length, which is told of four times a second: so no rate of calls is too high, and no reader holds memory.
 */
export class LiveHub implements LiveSink {
  readonly #options: LiveHubOptions;
  readonly #audiences = new Map<string, Audience>();
  /** A field and no question, because every call looks at it. */
  isWatched = false;
  #ended: CallEntry[] = [];
  #unlisted = 0;
  #changes: object[] = [];
  /** Channels that something has happened on since standings were last told. */
  readonly #touched = new Set<string>();
  #standingsOf: StandingsOf = () => [];
  #news: object[] = [];
  #ticks = 0;
  #eventMark: number | null = null;
  #isLooking = false;
  #stop: (() => void) | null = null;
  /** A stream of another process, or of an audience that was forgotten, cannot be gone on with. */
  readonly #run: string;

  constructor(options: LiveHubOptions) {
    this.#options = options;
    this.#run = options.now().toString(36);
  }

  get readerCount(): number {
    let count = 0;
    for (const { readers } of this.#audiences.values()) count += readers.size;
    return count;
  }

  callEnded(entry: CallEntry): void {
    if (this.#ended.length < endedMax) this.#ended.push(entry);
    else this.#unlisted++;
  }

  serviceChanged({ kind }: ServiceChange, channelId: string, upstreamModel: string): void {
    if (!this.isWatched || this.#changes.length >= changesMax) return;
    const change = kind === 'back' ? 'restored' : 'ejected';
    this.#changes.push({ channelId, upstreamModel, change, at: this.#iso() });
    this.#touched.add(channelId);
  }

  /** Readers of channels are told how those stand that calls were sent to, from now on. */
  tellStandings(standingsOf: StandingsOf): void {
    this.#standingsOf = standingsOf;
  }

  /**
   * Adds a reader, who is first sent what it has missed since `after`, the id of a frame. Null when there are too many; otherwise whether
   * nothing was missed, and how to leave.
   */
  join(
    scope: Scope,
    reader: LiveReader,
    after: string | null,
  ): { readonly resumed: boolean; leave(): void; greet(): void } | null {
    if (this.readerCount >= readersMax) return null;
    const audience = this.#audienceOf(scope);
    audience.emptySinceMs = null;
    const missed = this.#missed(audience, after);
    return {
      resumed: missed !== null,
      greet: () => {
        for (const frame of missed ?? []) if (reader.topics.has(frame.topic)) reader.send(frame);
        audience.readers.add(reader);
        this.#stop ??= this.#options.every(frameMs, () => this.#tick());
        this.isWatched = true;
      },
      leave: () => {
        audience.readers.delete(reader);
        if (audience.readers.size === 0) audience.emptySinceMs = this.#options.now();
      },
    };
  }

  /** Tells all readers that the process goes, so that they come back to another one. */
  close(): void {
    for (const { readers } of this.#audiences.values())
      for (const reader of [...readers]) reader.end('restart');
    this.#rest();
  }

  #rest(): void {
    this.#stop?.();
    this.#stop = null;
    this.isWatched = false;
    this.#eventMark = null;
  }

  #audienceOf(scope: Scope): Audience {
    const name = scope === 'all' ? everybody : JSON.stringify([...scope].sort());
    let audience = this.#audiences.get(name);
    if (audience === undefined) {
      audience = {
        ...{ scope, name, readers: new Set(), rates: new LiveRates(), frames: [] },
        ...{ frameNumber: 0, emptySinceMs: null },
      };
      this.#forget(audiencesMax - 1);
      this.#audiences.set(name, audience);
    }
    return audience;
  }

  /** The frames behind the one with this id; null where it is not known what was missed. */
  #missed({ name, frames, frameNumber }: Audience, after: string | null): readonly LiveFrame[] | null {
    const [run, number = ''] = after?.split('.') ?? [];
    if (run !== `${this.#run}-${shortOf(name)}` || !/^\d{1,12}$/.test(number)) return null;
    const first = frames[0]?.number ?? frameNumber + 1;
    const last = Number(number);
    return last > frameNumber || last + 1 < first ? null : frames.filter((frame) => frame.number > last);
  }

  #tick(): void {
    this.#ticks++;
    const [ended, unlisted, changes, news] = [this.#ended, this.#unlisted, this.#changes, this.#news];
    [this.#ended, this.#unlisted, this.#changes, this.#news] = [[], 0, [], []];
    this.#touch(ended);
    for (const audience of this.#audiences.values()) {
      const own =
        audience.scope === 'all' ? ended : ended.filter((call) => includes(audience.scope, call.accountId));
      // Calls that were not kept are nobody's in particular: all who can see them all are told of them.
      const beyond = audience.scope === 'all' ? unlisted : 0;
      audience.rates.add(own, beyond);
      if (own.length + beyond > 0) this.#sendCalls(audience, own, beyond);
      if (audience.scope === 'all' && changes.length > 0)
        this.#send(audience, 'channels', { items: changes });
      if (audience.scope === 'all' && news.length > 0) this.#send(audience, 'events', { items: news });
      if (this.#ticks % framesOfRates === 0) this.#sendRates(audience);
    }
    if (this.#ticks % framesOfRates === 0) {
      this.#sendStandings();
      void this.#lookForEvents();
    }
    this.#forget(audiencesMax);
    if (this.#audiences.size > 0) return;
    this.#rest();
  }

  #touch(ended: readonly CallEntry[]): void {
    for (const { attempts } of ended)
      for (const { channelId } of attempts) if (this.#touched.size < touchedMax) this.#touched.add(channelId);
  }

  /** Once a second, and for nobody where nobody looks at channels. */
  #sendStandings(): void {
    const audience = this.#audiences.get(everybody);
    const isWanted = [...(audience?.readers ?? [])].some(({ topics }) => topics.has('channels'));
    const standings = isWanted ? this.#standingsOf(this.#touched) : [];
    this.#touched.clear();
    if (audience !== undefined && standings.length > 0)
      this.#send(audience, 'channels', { items: [], standings });
  }

  /** Events come from the store, so those of other processes are among them. */
  async #lookForEvents(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      const { events, mark } = await this.#options.followEvents(this.#eventMark);
      this.#eventMark = mark;
      for (const { id, kind, severity, subject, endedAtMs } of events.slice(0, changesMax)) {
        const phase: EventPhase = endedAtMs === null ? 'begun' : 'ended';
        this.#news.push({ id, kind, severity, subject, phase, at: this.#iso() });
      }
    } catch {
      // While the store cannot be asked, there is no news of it; the next look finds all of it.
    } finally {
      this.#isLooking = false;
    }
  }

  #sendCalls(audience: Audience, own: readonly CallEntry[], beyond: number): void {
    const reader: CallReader = {
      isOperator: audience.scope === 'all',
      nameOf: (id) => this.#options.nameOf(id),
    };
    const listed = own.slice(-listedMax).reverse();
    const items = listed.map((entry) => callLine(entry, reader));
    this.#send(audience, 'calls', { items, skipped: own.length - listed.length + beyond });
  }

  #sendRates(audience: Audience): void {
    const isOperator = audience.scope === 'all';
    const rates = {
      at: this.#iso(),
      ...audience.rates.takeSecond(),
      openCalls: isOperator ? this.#options.openCalls() : null,
    };
    this.#send(audience, 'overview', rates);
  }

  #send(audience: Audience, topic: LiveTopic, data: object): void {
    const number = ++audience.frameNumber;
    const id = `${this.#run}-${shortOf(audience.name)}.${number}`;
    const frame = { number, topic, text: `id: ${id}\nevent: ${topic}\ndata: ${JSON.stringify(data)}\n\n` };
    audience.frames.push(frame);
    if (audience.frames.length > keptFrames) audience.frames.shift();
    for (const reader of audience.readers) if (reader.topics.has(topic)) reader.send(frame);
  }

  /** Audiences whose readers have been away for a while; sooner where there are too many. */
  #forget(max: number): void {
    const empty = [...this.#audiences.values()].filter(({ emptySinceMs }) => emptySinceMs !== null);
    for (const audience of empty) {
      const isOld = this.#options.now() - (audience.emptySinceMs ?? 0) > keptMs;
      if (isOld || this.#audiences.size > max) this.#audiences.delete(audience.name);
    }
  }

  #iso(): string {
    return new Date(this.#options.now()).toISOString();
  }
}

/** A few digits that tell audiences apart: an id must not name accounts. */
function shortOf(name: string): string {
  let hash = 0;
  for (let at = 0; at < name.length; at++) hash = (hash * 31 + name.charCodeAt(at)) >>> 0;
  return hash.toString(36);
}
