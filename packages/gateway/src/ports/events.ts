import type { AlertDetail, AlertKind, Severity } from '../catalogue/alert-kinds.ts';

export const severities = ['error', 'warning', 'info'] as const satisfies readonly Severity[];

/** Something an operator should hear of, as it is kept: what happens again within a while is counted in the same one. */
export interface OperatorEvent {
  /** 32 hexadecimal digits that begin with its time, as those of calls. */
  readonly id: string;
  readonly kind: AlertKind;
  readonly severity: Severity;
  /** `channel:main`, `model:gpt-5`, `account:acme`; empty where it is about the whole gateway. */
  readonly subject: string;
  /** The members that the latest news had. */
  readonly detail: AlertDetail;
  readonly count: number;
  readonly firstAtMs: number;
  readonly lastAtMs: number;
  /** When it was over, or will be by itself; null while it lasts, and of what has no end. */
  readonly endedAtMs: number | null;
}

/** An event as the store gives it back. */
export interface KeptEvent extends OperatorEvent {
  /** When somebody first said that they had seen it, and their name; null while nobody has. */
  readonly acknowledgedAtMs: number | null;
  readonly acknowledgedBy: string | null;
}

/** News of events on its way to the store: something has happened so many times, or is over. */
export interface EventNews extends OperatorEvent {
  /** Its own id, where the store has no event that it is a part of. */
  readonly id: string;
  /** News with the same text are parts of one event. */
  readonly fold: string;
  /** How long after an event's last time news are still a part of it. */
  readonly foldMs: number;
  /** 0 where it only ends. */
  readonly count: number;
  /** The webhooks that are told when an event begins or ends. */
  readonly webhooks: readonly string[];
}

/** Takes note of what operators should hear of. Never throws, never waits. */
export interface EventSink {
  raise(kind: AlertKind, detail: AlertDetail): void;
  /** The thing that these members name is over. */
  over(kind: AlertKind, detail: AlertDetail): void;
}

/** Events that are asked for; what is left out does not restrict. */
export interface EventFilter {
  readonly kind?: AlertKind;
  readonly severity?: Severity;
  /** Leaves out what has not happened since then. */
  readonly fromMs?: number;
  /** Leaves out what began later. */
  readonly toMs?: number;
  /** Only those that were over at that moment, or only those that were not. */
  readonly over?: { readonly isOver: boolean; readonly atMs: number };
  readonly isAcknowledged?: boolean;
}

/** Events that last and that nobody has acknowledged, notes left out. */
export interface UnseenEvents {
  readonly errors: number;
  readonly warnings: number;
}

/** A message to a webhook, and what has become of it. */
export interface DeliveryRecord {
  readonly event: KeptEvent;
  readonly phase: EventPhase;
  readonly state: 'delivered' | 'waiting' | 'given-up';
  readonly attempts: number;
  /** When it is tried next; null when it is not any more. */
  readonly dueAtMs: number | null;
  readonly triedAtMs: number | null;
  /** Says what was wrong with the last attempt; null when it went well, or there was none. */
  readonly problem: string | null;
}

/** A message of a webhook: the next page begins behind it. */
export interface DeliveryPlace {
  readonly eventId: string;
  readonly phase: EventPhase;
}

/** An event begins and ends once each; what happens between is counted. */
export type EventPhase = 'begun' | 'ended';

/** A message to a webhook that is to be sent now. */
export interface EventDelivery {
  readonly webhook: string;
  readonly phase: EventPhase;
  /** Attempts made before this one. */
  readonly attempts: number;
  readonly event: OperatorEvent;
}

/** The end of one attempt. */
export interface DeliveryResult {
  readonly eventId: string;
  readonly phase: EventPhase;
  readonly webhook: string;
  readonly state: 'delivered' | 'waiting' | 'given-up';
  /** When it is to be tried again; of no meaning unless it waits. */
  readonly dueAtMs: number;
  readonly triedAtMs: number;
  /** Says in words what was wrong; null when nothing was. */
  readonly problem: string | null;
}

/** How the messages of one webhook stand. */
export interface WebhookStanding {
  readonly webhook: string;
  readonly waiting: number;
  readonly delivered: number;
  readonly givenUp: number;
  readonly lastTriedAtMs: number | null;
  readonly lastDeliveredAtMs: number | null;
  /** Says what was wrong with the last attempt; null when it went well, or there was none. */
  readonly problem: string | null;
}

/** Keeps the events and what is still to be told of them, for all processes. Each method is one transaction. */
export interface EventStore {
  /** Takes news in. The same news a second time change nothing. */
  record(news: readonly EventNews[], nowMs: number): Promise<void>;
  /** Newest first, from before an id where one is given. */
  list(filter: EventFilter, limit: number, before: string | null): Promise<readonly KeptEvent[]>;
  /** Notes who has seen these; gives back those that nobody had before. */
  acknowledge(ids: readonly string[], by: string, nowMs: number): Promise<readonly KeptEvent[]>;
  unseen(nowMs: number): Promise<UnseenEvents>;
  /** Events that have begun or ended since the mark, in that order, and the next mark; without one, the mark of now. */
  follow(
    filter: EventFilter,
    mark: number | null,
  ): Promise<{ readonly events: readonly KeptEvent[]; readonly mark: number }>;
  /** Messages that are due, a few for each webhook. They are nobody else's until `untilMs`. */
  claim(webhooks: readonly string[], nowMs: number, untilMs: number): Promise<readonly EventDelivery[]>;
  conclude(results: readonly DeliveryResult[]): Promise<void>;
  standings(): Promise<readonly WebhookStanding[]>;
  /** The messages of a webhook, those of the newest events first. */
  deliveries(
    webhook: string,
    limit: number,
    before: DeliveryPlace | null,
  ): Promise<readonly DeliveryRecord[]>;
  /** Has a message sent once more, from the first attempt on; false where there is none. */
  redeliver(webhook: string, place: DeliveryPlace, nowMs: number): Promise<boolean>;
}
