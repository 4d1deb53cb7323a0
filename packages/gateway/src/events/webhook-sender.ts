import { type AlertKind, alertKinds } from '../catalogue/alert-kinds.ts';
import { hearsOf, isSentTo, secretsNow, type Webhook } from '../catalogue/webhooks.ts';
import type { Clock } from '../ports/clock.ts';
import type { EventDelivery, EventNews, EventSink, EventStore } from '../ports/events.ts';
import type { Store } from '../ports/store.ts';
import type { UpstreamClient } from '../ports/upstream.ts';
import { postMessage } from './post-message.ts';
import { eventMessage } from './webhook-message.ts';

const lookEveryMs = 1_000;
/** A message is its taker's for so long: longer than an attempt can take. */
const claimMs = 60_000;
/** After the first failed attempt; twice as long after each further one, up to an hour. About a day in all. */
const [retryMsMin, retryMsMax, attemptsMax] = [5_000, 3_600_000, 34];
/** After so many failed attempts on end, operators hear of the webhook itself. */
const failuresToTell = 3;
/** Messages that the store does not have are remembered once they are sent. */
const unstoredMax = 1_000;

export interface WebhookSenderOptions {
  readonly client: UpstreamClient;
  readonly clock: Clock;
  /** From 0 to 1: attempts of several processes, and of several messages, are spread. */
  readonly uniform: () => number;
  readonly deployment: () => string;
  readonly events: EventSink;
  /** Hears of each attempt. */
  readonly onAttempt: (webhook: string, isTaken: boolean) => void;
}

type DeliveryStore = Pick<Store, 'trouble'> & { readonly events: Pick<EventStore, 'claim' | 'conclude'> };

/** Posts what events have to tell to their webhooks: each by itself, so that a dead receiver holds up no other one. */
export class WebhookSender {
  readonly #options: WebhookSenderOptions;
  #webhooks: ReadonlyMap<string, Webhook> = new Map();
  #store: DeliveryStore | null = null;
  #timer: NodeJS.Timeout | null = null;
  #looking: Promise<void> | null = null;
  /** Messages under way, by webhook. */
  readonly #sending = new Map<string, number>();
  /** Attempts that have failed on end, by webhook. */
  readonly #failures = new Map<string, number>();
  readonly #unstored = new Set<string>();

  constructor(options: WebhookSenderOptions) {
    this.#options = options;
  }

  /** The ones in force from here on. */
  use(webhooks: readonly Webhook[]): void {
    this.#webhooks = new Map(webhooks.map((webhook) => [webhook.id, webhook]));
  }

  get webhooks(): readonly Webhook[] {
    return [...this.#webhooks.values()];
  }

  /** The names of those that want to hear of events of a kind. */
  namesFor(kind: AlertKind): readonly string[] {
    const { severity } = alertKinds[kind];
    return [...this.#webhooks.values()]
      .filter((webhook) => hearsOf(webhook, kind, severity))
      .map(({ id }) => id);
  }

  /** Looks for messages that are due from here on, until it is stopped. */
  start(store: DeliveryStore): void {
    this.#store = store;
    this.#timer ??= setInterval(() => void this.look(), lookEveryMs).unref();
  }

  /** Takes up nothing new, and waits for what is being looked for; messages under way are given up, and due again later. */
  async stop(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    this.#store = null;
    await this.#looking;
  }

  /** Sends what is due now. Never rejects. */
  look(): Promise<void> {
    this.#looking ??= this.#claim().finally(() => {
      this.#looking = null;
    });
    return this.#looking;
  }

  /** Sends news that the store cannot take at the moment, once each; the store will have them sent again, under the same id. */
  sendUnstored(news: readonly EventNews[]): void {
    for (const each of news) {
      if (each.count === 0) continue;
      for (const name of each.webhooks) void this.#sendUnstored(name, each);
    }
  }

  async #sendUnstored(name: string, news: EventNews): Promise<void> {
    const webhook = this.#webhooks.get(name);
    const key = `${name} ${news.id}`;
    if (webhook === undefined || !isSentTo(webhook) || this.#unstored.has(key)) return;
    if (this.#unstored.size >= unstoredMax) this.#unstored.clear();
    this.#unstored.add(key);
    const { fold: _, foldMs: __, webhooks: ___, ...event } = news;
    const problem = await this.#post(webhook, { webhook: name, phase: 'begun', attempts: 0, event });
    if (problem !== null) this.#unstored.delete(key);
  }

  async #claim(): Promise<void> {
    const { clock } = this.#options;
    const store = this.#store;
    const ready = [...this.#webhooks.values()]
      .filter((webhook) => isSentTo(webhook) && !this.#sending.has(webhook.id))
      .map(({ id }) => id);
    if (store === null || store.trouble !== null || ready.length === 0) return;
    const now = clock.now();
    const claimed = await store.events.claim(ready, now, now + claimMs).catch(() => []);
    for (const delivery of claimed) void this.#deliver(delivery, store);
  }

  async #deliver(delivery: EventDelivery, store: DeliveryStore): Promise<void> {
    const { webhook: name, phase, attempts, event } = delivery;
    const webhook = this.#webhooks.get(name);
    if (webhook === undefined) return;
    this.#sending.set(name, (this.#sending.get(name) ?? 0) + 1);
    const problem = await this.#post(webhook, delivery);
    const triedAtMs = this.#options.clock.now();
    const isLast = attempts + 1 >= attemptsMax;
    const state = problem === null ? 'delivered' : isLast ? 'given-up' : 'waiting';
    const dueAtMs = triedAtMs + this.#retryMs(attempts);
    const result = { eventId: event.id, phase, webhook: name, state, dueAtMs, triedAtMs, problem } as const;
    // One that cannot be written down is due again when its claim is over.
    await store.events.conclude([result]).catch(() => undefined);
    const left = (this.#sending.get(name) ?? 1) - 1;
    if (left > 0) this.#sending.set(name, left);
    else this.#sending.delete(name);
    if (left === 0 && problem === null) void this.look();
  }

  async #post(webhook: Webhook, { event, phase }: EventDelivery): Promise<string | null> {
    const { client, clock, deployment, onAttempt } = this.#options;
    const now = clock.now();
    const message = eventMessage(event, phase, deployment(), secretsNow(webhook, now), now);
    const problem = await postMessage(client, webhook, message);
    onAttempt(webhook.id, problem === null);
    this.#tell(webhook.id, problem);
    return problem;
  }

  #tell(webhook: string, problem: string | null): void {
    const { events } = this.#options;
    const before = this.#failures.get(webhook);
    if (problem === null) {
      // An earlier process may have told of it.
      if (before !== 0) events.over('webhook-failing', { webhook });
      this.#failures.set(webhook, 0);
      return;
    }
    const failures = (before ?? 0) + 1;
    this.#failures.set(webhook, failures);
    if (failures >= failuresToTell) events.raise('webhook-failing', { webhook, reason: problem });
  }

  #retryMs(attempts: number): number {
    const whole = Math.min(retryMsMax, retryMsMin * 2 ** attempts);
    return Math.round(whole * (0.75 + 0.5 * this.#options.uniform()));
  }
}
