import {
  type EncodedRequest,
  type Fault,
  fail,
  fault,
  type Loss,
  type Protocol,
  type Result,
  type StreamFraming,
  type StreamTranslator,
  succeed,
  translate,
  upstreamProtocolOf,
  withMedia,
} from '@headgate/protocols';
import type { Target } from '../core/catalogue.ts';
import type { Conversation } from './conversation.ts';

/**
 * How one attempt speaks to its target: in the caller's own bytes, or translated where the target speaks another protocol
 * (architecture.md, "Two lanes"). Chosen anew for every attempt, from the same inbound bytes.
 */
export interface Lane {
  readonly kind: 'passthrough' | 'translate';
  /** The upstream's. */
  readonly protocol: Protocol;
  readonly request: EncodedRequest;
  readonly losses: readonly Loss[];
  /** Of the upstream's stream. */
  readonly framing: StreamFraming;
  /** A whole answer of the upstream's as the caller gets it. */
  whole(body: Uint8Array): Uint8Array;
  /** Null when the frames are relayed as they are. */
  openTranslator(): StreamTranslator | null;
}

/** A fault where the target cannot be asked for this: another one may. */
export function chooseLane(conversation: Conversation, target: Target): Result<Lane, Fault> {
  const { gateway, protocol } = conversation;
  const id = upstreamProtocolOf(protocol.id, target.channel.provider.protocols);
  const upstream = id === null ? undefined : gateway.protocols[id];
  const path = id === null ? undefined : target.channel.provider.protocols[id];
  if (upstream === undefined || path === undefined)
    throw new Error(`channel ${target.channel.id} was planned for ${protocol.id}, which it cannot serve`);
  return upstream.id === protocol.id
    ? passthroughLane(conversation, target, path)
    : translateLane(conversation, target, upstream, path);
}

function passthroughLane(
  { protocol, request, ask: { model } }: Conversation,
  target: Target,
  path: string,
): Result<Lane, Fault> {
  const { channel, upstreamModel } = target;
  const { dialect } = channel.provider;
  const asked = { upstreamModel, path, dialect, origin: target.origin, reasoning: model.reasoning };
  const refusal = request.refuse?.(asked) ?? null;
  if (refusal !== null) return fail(refusal);
  return succeed({
    kind: 'passthrough',
    protocol,
    request: request.passThrough(asked),
    losses: [],
    framing: request.framing,
    whole: (body) => body,
    openTranslator: () => null,
  });
}

function translateLane(
  conversation: Conversation,
  target: Target,
  upstream: Protocol,
  path: string,
): Result<Lane, Fault> {
  const { protocol, request, inbound } = conversation;
  if (protocol.codec === null || upstream.codec === null)
    throw new Error(`${protocol.id} cannot be translated to ${upstream.id}`);
  const turn = conversation.turn();
  if (!turn.ok) return turn;
  const context = {
    turn: withMedia(turn.value, conversation.media.fetched),
    traceId: inbound.traceId,
    createdS: Math.floor(inbound.receivedAtMs / 1000),
    wantsUsageFrame: request.wantsUsageFrame,
    framing: request.framing,
    inputTokensEstimate: request.facts.inputTokensEstimate,
  };
  const languages = { caller: protocol.codec, upstream: upstream.codec };
  const translation = translate(languages, translationTarget(conversation, target, path), context);
  if (!translation.ok) return translation;
  const { losses } = translation.value;
  if (conversation.strict && losses[0] !== undefined) return fail(lossRefused(losses[0]));
  return succeed({
    kind: 'translate',
    protocol: upstream,
    request: translation.value.request,
    losses,
    framing: 'sse',
    whole: (body) => translation.value.whole(body),
    openTranslator: () => translation.value.openStream(),
  });
}

function translationTarget({ ask: { model } }: Conversation, target: Target, path: string) {
  const { channel, upstreamModel } = target;
  return {
    upstreamModel,
    path,
    dialect: channel.provider.dialect,
    origin: target.origin,
    maxOutputTokens: model.maxOutputTokens,
    reasoning: model.reasoning,
  };
}

/** A key that is strict does without an answer rather than without a part of its request. */
function lossRefused({ field, action, note }: Loss): Fault {
  const how = action === 'dropped' ? 'it would be left out' : `it would be sent otherwise (${note})`;
  return fault('invalid_request', {
    message: `'${field}' cannot be honoured by any channel of this model: ${how}. Leave it out, or use a key that is not strict.`,
    param: field,
  });
}
