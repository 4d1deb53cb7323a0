import {
  type Fault,
  fail,
  fault,
  type InboundRequest,
  type Protocol,
  type Result,
  type Turn,
} from '@headgate/protocols';
import type { Caller } from '../core/catalogue.ts';
import type { Plan } from '../core/route/router.ts';
import type { Inbound, Reply } from '../ports/data-plane.ts';
import type { CallEntry, CallOpening, Settlement } from '../ports/ledger.ts';
import { type Admission, admit, type Rejection, unplanned } from './admit.ts';
import { alertBug } from './alert-bug.ts';
import { conclude, withheld } from './conclude.ts';
import type { Conversation } from './conversation.ts';
import { countLocally } from './count-locally.ts';
import { type Delivery, deliver } from './deliver.ts';
import type { Gateway } from './gateway.ts';
import { KeepAlive } from './keep-alive.ts';
import { MediaShelf } from './media-shelf.ts';
import { entryOf, unsettledEntryOf } from './settle.ts';
import { type Guard, guard } from './watchdog.ts';

/**
 * The life of a call, on one page: read facts, admit, deliver, settle, conclude. It begins once the caller is known and
 * the body is whole. Whatever happens in between, there is one way out, and exactly one entry is written on it before
 * the caller sees the end. Never rejects.
 */
export async function runCall(
  inbound: Inbound,
  caller: Caller,
  protocol: Protocol,
  reply: Reply,
  gateway: Gateway,
): Promise<void> {
  gateway.observer.callStarted();
  const { request, admission } = consider(inbound, caller, protocol, gateway);
  const opening = openingOf(inbound, caller, protocol, request, admission.ok ? admission.value : null);

  const openRow = noteLongCall(opening, inbound, gateway);
  const delivery = admission.ok
    ? await carryOut(
        converse(inbound, caller, protocol, admission.value, reply, gateway),
        admission.value.plan,
      )
    : refused(admission.error);
  gateway.watchdog.release(openRow);

  const closing = {
    opening,
    work: inbound.work,
    tariff: admission.ok ? admission.value.tariff : null,
    delivery,
    inputTokensEstimate: request?.facts.inputTokensEstimate ?? 0,
    outputTokensMax: outputTokensMaxOf(request),
    imageKind: request?.facts.imageKind ?? null,
    durationMs: gateway.clock.monotonic() - inbound.receivedAt,
    overheadUs: overheadUsOf(delivery, inbound, gateway),
    ttftMs: ttftOf(delivery, inbound),
    finishedAtMs: gateway.clock.now(),
  };
  const entry = entryOf(closing);
  const settlement = await gateway.ledger.settle(entry);
  const isDurable = settlement === 'settled' || settlement === 'already-settled';
  const told = isDurable ? delivery : withheld(delivery, reply.begun);
  conclude(told, protocol, request?.framing ?? 'sse', inbound.traceId, reply);
  report(isDurable ? entry : unsettledEntryOf({ ...closing, delivery: told }), settlement, gateway);
}

interface Consideration {
  /** Null when it could not be read. */
  readonly request: InboundRequest | null;
  readonly admission: Result<Admission, Rejection>;
}

/** Reads what is asked for and decides whether it may be. A bug on the way is a refusal. */
function consider(inbound: Inbound, caller: Caller, protocol: Protocol, gateway: Gateway): Consideration {
  try {
    const request = protocol.readRequest(inbound);
    if (!request.ok) return { request: null, admission: fail(unplanned(request.error)) };
    const catalogue = gateway.catalogue.current;
    return {
      request: request.value,
      admission: admit(
        request.value,
        { protocol: protocol.id, work: inbound.work, header: inbound.header },
        caller,
        catalogue,
        gateway,
      ),
    };
  } catch (error) {
    alertBug(error, inbound.traceId, gateway.observer);
    return { request: null, admission: fail(unplanned(fault('internal'))) };
  }
}

function keepAliveOf(
  inbound: Inbound,
  { keepAliveFrame }: Protocol,
  { facts, framing }: InboundRequest,
  reply: Reply,
  gateway: Gateway,
): KeepAlive | null {
  const isSilent = keepAliveFrame === null || !facts.stream || framing !== 'sse';
  return isSilent ? null : new KeepAlive(gateway, reply, keepAliveFrame, inbound.receivedAt);
}

/** A count that no upstream gave is made here. Never rejects: a bug in it is a failure like any other. */
async function carryOut(conversation: Conversation, plan: Plan): Promise<Delivery> {
  const { inbound, keepAlive, reply, gateway } = conversation;
  const delivery = await deliver(conversation, plan);
  keepAlive?.stop();
  if (inbound.work !== 'count') return delivery;
  try {
    return await countLocally(conversation, delivery);
  } catch (error) {
    alertBug(error, inbound.traceId, gateway.observer);
    const finish = { kind: 'failed', fault: fault('internal'), begun: reply.begun } as const;
    return { ...delivery, finish };
  }
}

/** What the caller allowed, in tokens; null when it set no limit. */
function outputTokensMaxOf(request: InboundRequest | null): number | null {
  const { maxOutputTokens, choices } = request?.facts ?? { maxOutputTokens: null, choices: 1 };
  return maxOutputTokens === null ? null : maxOutputTokens * choices;
}

function refused({ fault: reason, plan }: Rejection): Delivery {
  const plans = plan === null ? [] : [{ plan, attemptsBefore: 0 }];
  return { attempts: [], plans, finish: { kind: 'failed', fault: reason, begun: false } };
}

function openingOf(
  inbound: Inbound,
  caller: Caller,
  protocol: Protocol,
  request: InboundRequest | null,
  admission: Admission | null,
): CallOpening {
  return {
    traceId: inbound.traceId,
    accountId: caller.accountId,
    keyId: caller.keyId,
    groupId: caller.group.id,
    surface: protocol.id,
    modelRequested: request?.facts.model.slice(0, 200) ?? '',
    stream: request?.facts.stream ?? false,
    startedAtMs: inbound.receivedAtMs,
    priceVersion: admission?.tariff.price?.id ?? null,
    multiplierPpm: caller.group.multiplierPpm,
    clientRequestId: inbound.header('x-client-request-id')?.slice(0, 200) ?? null,
    parentTrace: inbound.header('traceparent')?.slice(0, 200) ?? null,
    userAgent: inbound.header('user-agent')?.slice(0, 200) ?? null,
  };
}

/** A call that lives longer than most gets its `open` row, so that it is not lost if the process dies. */
function noteLongCall(opening: CallOpening, inbound: Inbound, gateway: Gateway): Guard {
  const openRow = guard(inbound.receivedAt + gateway.limits.openRowAfterMs, () =>
    gateway.ledger.open(opening),
  );
  gateway.watchdog.watch(openRow);
  return openRow;
}

function converse(
  inbound: Inbound,
  caller: Caller,
  protocol: Protocol,
  { request, ask }: Admission,
  reply: Reply,
  gateway: Gateway,
): Conversation {
  const deadlineAt = inbound.receivedAt + gateway.limits.callMs;
  const turn = turnOf(inbound, protocol);
  const keepAlive = keepAliveOf(inbound, protocol, request, reply, gateway);
  const { strict } = caller;
  const media = new MediaShelf(gateway.media);
  return { gateway, protocol, inbound, request, ask, turn, media, strict, reply, keepAlive, deadlineAt };
}

function turnOf(inbound: Inbound, { id, codec }: Protocol): () => Result<Turn, Fault> {
  let turn: Result<Turn, Fault> | null = null;
  return () => {
    if (codec === null) throw new Error(`${id} is never translated`);
    turn ??= codec.readTurn(inbound);
    return turn;
  };
}

/** To the moment the first request was sent upstream, or, if none was, the refusal decided. */
function overheadUsOf({ attempts }: Delivery, { receivedAt }: Inbound, { clock }: Gateway): number {
  const firstSentAt = Math.min(...attempts.map(({ startedAt }) => startedAt));
  return Math.round(((attempts.length === 0 ? clock.monotonic() : firstSentAt) - receivedAt) * 1000);
}

/** From the request's last byte to first content: failed attempts and waits count too. */
function ttftOf({ attempts }: Delivery, { receivedAt }: Inbound): number | null {
  const last = attempts.at(-1);
  if (last === undefined || last.ttftMs === null) return null;
  return last.startedAt - receivedAt + last.ttftMs;
}

function report(entry: CallEntry, settlement: Settlement, gateway: Gateway): void {
  gateway.observer.callFinished(entry);
  if (settlement === 'conflict') gateway.observer.alert('ledger-conflict', { traceId: entry.traceId });
  if (settlement === 'unavailable') gateway.observer.alert('ledger-unavailable', { traceId: entry.traceId });
  if (entry.unbilledReason === 'unpriced_model')
    gateway.observer.alert('unpriced-model', { model: entry.modelRequested });
}
