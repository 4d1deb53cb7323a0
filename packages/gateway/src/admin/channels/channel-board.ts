import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Catalogue, Channel } from '../../catalogue/catalogue.ts';
import {
  type ChannelState,
  type ChannelStatus,
  channelStatus,
  type ServedTarget,
  servedTargets,
} from '../channel-status.ts';
import { type ChannelSight, isOfChannel, itemOf, type ListedChannel, standingOf } from './channel-views.ts';

/** All channels as they stand, by id, and how many there are of each state. */
export interface BoardView {
  readonly items: readonly ListedChannel[];
  readonly counts: Readonly<Record<ChannelState, number>>;
}

/** Askers within this time are told the same. */
const freshMs = 1_000;
/** Targets that are looked at in one turn of the event loop: some hundred microseconds. */
const targetsPerTurn = 250;
/** Targets that are looked at for one frame of the live stream. */
const targetsPerFrame = 500;

/**
 * How all channels stand. There may be a thousand of them with ten models each: they are looked at a few in a turn of the event loop, once
 * for all who ask within a second, so that no call waits for a list.
 */
export class ChannelBoard {
  readonly #sight: () => ChannelSight;
  #served: {
    readonly catalogue: Catalogue;
    readonly byChannel: ReadonlyMap<Channel, readonly ServedTarget[]>;
  } | null = null;
  #view: { readonly of: Catalogue; readonly atMs: number; readonly made: Promise<BoardView> } | null = null;
  /** Channels that a frame has not come to; the next one tells of them. */
  readonly #waiting = new Set<string>();

  constructor(sight: () => ChannelSight) {
    this.#sight = sight;
  }

  view(): Promise<BoardView> {
    const sight = this.#sight();
    const { catalogue: of, nowMs: atMs } = sight;
    if (this.#view?.of !== of || atMs - this.#view.atMs >= freshMs || atMs < this.#view.atMs)
      this.#view = { of, atMs, made: this.#make(sight) };
    return this.#view.made;
  }

  /** Something was done that is to be seen at once. */
  changed(): void {
    this.#view = null;
  }

  /** Channels by id, so many behind one that is named, with each of their models. */
  async statuses(limit = Infinity, after = ''): Promise<readonly ChannelStatus[]> {
    const sight = this.#sight();
    const channels = byId(sight.catalogue).filter(({ id }) => id > after);
    const statuses: ChannelStatus[] = [];
    for await (const { status } of this.#each(sight, channels.slice(0, limit))) statuses.push(status);
    return statuses;
  }

  /** The numbers that move, of channels that something has happened on. */
  standings(channelIds: Iterable<string>): readonly ReturnType<typeof standingOf>[] {
    const { catalogue, router, nowMs } = this.#sight();
    for (const id of channelIds) this.#waiting.add(id);
    const served = this.#servedOf(catalogue);
    const told: ReturnType<typeof standingOf>[] = [];
    let looked = 0;
    for (const id of this.#waiting) {
      if (looked >= targetsPerFrame) break;
      this.#waiting.delete(id);
      const channel = catalogue.channels.get(id);
      if (channel === undefined) continue;
      const own = served.get(channel) ?? [];
      looked += own.length + 1;
      told.push(standingOf(channelStatus(channel, own, router, nowMs)));
    }
    return told;
  }

  #servedOf(catalogue: Catalogue): ReadonlyMap<Channel, readonly ServedTarget[]> {
    if (this.#served?.catalogue !== catalogue)
      this.#served = { catalogue, byChannel: servedTargets(catalogue) };
    return this.#served.byChannel;
  }

  async #make(sight: ChannelSight): Promise<BoardView> {
    const counts = { down: 0, degraded: 0, draining: 0, up: 0, off: 0 };
    const lacking = Map.groupBy(sight.problems.filter(isOfChannel), ({ subject }) => subject);
    const items: ListedChannel[] = [];
    for await (const { channel, own, status } of this.#each(sight, byId(sight.catalogue))) {
      counts[status.state]++;
      const models = own.map(({ model }) => model.id);
      items.push({ ...itemOf(channel, status, lacking.get(channel.id) ?? []), serves: models });
    }
    return { items, counts };
  }

  /** Looks at channels one after the other, and lets others have their turn between some of them. */
  async *#each({ catalogue, router, nowMs }: ChannelSight, channels: readonly Channel[]) {
    const served = this.#servedOf(catalogue);
    let looked = 0;
    for (const channel of channels) {
      const own = served.get(channel) ?? [];
      looked += own.length + 1;
      if (looked > targetsPerTurn) {
        looked = own.length;
        await nextTurn();
      }
      yield { channel, own, status: channelStatus(channel, own, router, nowMs) };
    }
  }
}

function byId({ channels }: Catalogue): readonly Channel[] {
  return [...channels.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
}
