import { beginningOf } from '@headgate/protocols';
import {
  type AlertDetail,
  type AlertKind,
  type AlertRow,
  alertKinds,
  foldOf,
  subjectOf,
} from '../catalogue/alert-kinds.ts';
import type { Clock } from '../ports/clock.ts';
import type { EventNews, EventSink, EventStore } from '../ports/events.ts';
import type { Store } from '../ports/store.ts';

/** News wait so long for others; what has been told of lately waits longer, so that a flood of it costs next to nothing. */
const [soonMs, laterMs] = [200, 10_000];
/** After a store that did not take them, and twice as long after each further time. */
const [retryMsMin, retryMsMax] = [1_000, 30_000];
/** News that wait: beyond it they are counted, and not kept. */
const waitingMax = 1_000;
const batchMax = 200;
/** Texts of others are cut off here, and so are details of too many members. */
const textLengthMax = 500;
const membersMax = 16;
/** Things remembered as told of lately. */
const recentMax = 2_000;

export interface EventQueueOptions {
  readonly clock: Clock;
  /** Makes an id that begins with the time. */
  readonly newId: () => string;
  /** Takes live secrets out of a text. */
  readonly redact: (text: string) => string;
  /** The webhooks that want to hear of events of a kind. */
  readonly webhooksFor: (kind: AlertKind) => readonly string[];
  /** Hears when the store has taken news in. */
  readonly onRecorded: () => void;
  /** Hears of news that the store has not taken for some time: whoever can tells of them all the same. */
  readonly onStuck: (news: readonly EventNews[]) => void;
}

type KeepingStore = Pick<Store, 'trouble'> & { readonly events: Pick<EventStore, 'record'> };

type Waiting = { -readonly [Member in keyof EventNews]: EventNews[Member] };

/**
 * The way of events into the store. Whoever tells of one only adds to a list in memory: what happens again is counted there. Nothing of an
 * event can fail or hold up a call.
 */
export class EventQueue implements EventSink {
  readonly #options: EventQueueOptions;
  #waiting: Waiting[] = [];
  /** The last of the waiting ones for each thing, as far as it has not ended. */
  readonly #begun = new Map<string, Waiting>();
  /** When each thing was last on its way to the store, on the clock that never jumps. */
  readonly #recent = new Map<string, number>();
  #lost = 0;
  #failures = 0;
  #timer: NodeJS.Timeout | null = null;
  #timerAt = Number.POSITIVE_INFINITY;
  #sending: Promise<void> | null = null;
  #isClosed = false;
  #store: KeepingStore | null = null;

  constructor(options: EventQueueOptions) {
    this.#options = options;
  }

  /** From here on there is a store; what happened before waits for it. */
  keepIn(store: KeepingStore): void {
    this.#store = store;
  }

  raise(kind: AlertKind, detail: AlertDetail): void {
    const fold = beginningOf(foldOf(kind, detail), textLengthMax);
    const key = `${kind}\n${fold}`;
    const now = this.#options.clock.now();
    const known = this.#begun.get(key);
    if (known !== undefined) {
      known.count += 1;
      known.lastAtMs = Math.max(known.lastAtMs, now);
      return;
    }
    const news = this.#news(kind, detail, fold, now);
    if (!this.#add(news)) return;
    this.#begun.set(key, news);
    this.#sendWithin(this.#isRecent(key) ? laterMs : soonMs);
  }

  /** The thing that these members name has come to its end. */
  over(kind: AlertKind, detail: AlertDetail): void {
    const fold = beginningOf(foldOf(kind, detail), textLengthMax);
    const key = `${kind}\n${fold}`;
    this.#begun.delete(key);
    this.#recent.delete(key);
    const now = this.#options.clock.now();
    if (this.#add({ ...this.#news(kind, detail, fold, now), count: 0 })) this.#sendWithin(soonMs);
  }

  /** Tries once more to bring everything to the store. */
  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#sending;
    while (this.#waiting.length > 0 && (await this.#send()));
  }

  #news(kind: AlertKind, detail: AlertDetail, fold: string, now: number): Waiting {
    const row: AlertRow = alertKinds[kind];
    const { newId, redact, webhooksFor } = this.#options;
    const endsAtMs = detail['endsAtMs'];
    const subjectText = beginningOf(redact(subjectOf(kind, detail)), textLengthMax);
    return {
      ...{ id: newId(), kind, severity: row.severity, subject: subjectText },
      ...{ fold: redact(fold), foldMs: row.foldMs, detail: this.#bounded(detail), count: 1 },
      ...{ firstAtMs: now, lastAtMs: now, endedAtMs: typeof endsAtMs === 'number' ? endsAtMs : null },
      webhooks: webhooksFor(kind),
    };
  }

  #bounded(detail: AlertDetail): AlertDetail {
    const members = Object.entries(detail).slice(0, membersMax);
    return Object.fromEntries(
      members.map(([name, value]) => [
        name,
        typeof value === 'number' ? value : beginningOf(this.#options.redact(value), textLengthMax),
      ]),
    );
  }

  #add(news: Waiting): boolean {
    if (this.#waiting.length >= waitingMax) {
      this.#lost += 1;
      return false;
    }
    this.#waiting.push(news);
    return true;
  }

  #isRecent(key: string): boolean {
    const at = this.#recent.get(key);
    return at !== undefined && this.#options.clock.monotonic() - at < laterMs;
  }

  #sendWithin(ms: number): void {
    const at = this.#options.clock.monotonic() + ms;
    if (this.#isClosed || this.#timerAt <= at) return;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timerAt = at;
    this.#timer = setTimeout(() => this.#onTime(), ms).unref();
  }

  #onTime(): void {
    this.#timer = null;
    this.#timerAt = Number.POSITIVE_INFINITY;
    if (this.#sending !== null) return;
    this.#sending = this.#send().then((isTaken) => {
      this.#sending = null;
      this.#failures = isTaken ? 0 : this.#failures + 1;
      if (!isTaken && this.#failures > 1) this.#options.onStuck(this.#waiting.slice(0, batchMax));
      const retryMs = Math.min(retryMsMax, retryMsMin * 2 ** (this.#failures - 1));
      if (this.#waiting.length > 0) this.#sendWithin(isTaken ? soonMs : retryMs);
    });
  }

  /** True when the store has taken what was given to it. */
  async #send(): Promise<boolean> {
    const { clock, onRecorded } = this.#options;
    const store = this.#store;
    // A file that is not in its place any more would take them, and nobody would find them again.
    if (store === null || store.trouble !== null) return false;
    const batch = this.#waiting.slice(0, batchMax);
    // News from here on are of their own.
    this.#begun.clear();
    try {
      await store.events.record(batch, clock.now());
    } catch {
      this.#countOn();
      return false;
    }
    this.#waiting = this.#waiting.slice(batch.length);
    this.#noteRecent(batch);
    if (this.#lost > 0) this.#tellLost();
    onRecorded();
    return true;
  }

  /** Nothing has gone: what waits still counts what happens again. */
  #countOn(): void {
    for (const news of this.#waiting) {
      const key = `${news.kind}\n${news.fold}`;
      if (news.count > 0) this.#begun.set(key, news);
      else this.#begun.delete(key);
    }
  }

  #noteRecent(batch: readonly EventNews[]): void {
    const now = this.#options.clock.monotonic();
    if (this.#recent.size > recentMax) this.#recent.clear();
    for (const { kind, fold, count } of batch) if (count > 0) this.#recent.set(`${kind}\n${fold}`, now);
  }

  #tellLost(): void {
    const count = this.#lost;
    this.#lost = 0;
    this.raise('events-lost', { count });
  }
}
