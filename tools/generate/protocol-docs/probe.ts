import type { ProtocolId } from '@headgate/protocols';

/** The protocols that are translated, in the order in which the pages name them. */
export const surfaces = [
  'chat-completions',
  'responses',
  'messages',
  'generate-content',
] as const satisfies readonly ProtocolId[];

export type SurfaceId = (typeof surfaces)[number];

/** Members of a request as they stand in its JSON. */
export type Members = Readonly<Record<string, unknown>>;

/**
 * One thing a caller may send. It is sent with and without: what becomes of the difference is what becomes of it. A text
 * in it that is to arrive says `canary`, so that it is known again.
 */
export interface Probe {
  /** The member as the caller spells it, without positions. */
  readonly member: string;
  /** Which of its values, where they fare differently; empty for any. */
  readonly value: string;
  readonly sent: Members;
  /** Members that stand beside it either way, over those of the group. */
  readonly beside: Members;
  /** Sent as headers instead of members. */
  readonly headers: Readonly<Record<string, string>>;
  /** Why nothing becomes of it and nobody is told, at upstreams where that is so and right. */
  readonly here: string | null;
}

/** Probes under one heading of a page. */
export interface ProbeGroup {
  readonly heading: string;
  readonly beside?: Members;
  readonly probes: readonly Probe[];
}

/** All that callers of one protocol may send. */
export interface ProbeSheet {
  readonly surface: SurfaceId;
  /** How the page introduces it. */
  readonly paths: readonly string[];
  /** Names under which callers are told of several members. */
  readonly collective: readonly string[];
  /** The least that is a request. */
  readonly base: Members;
  readonly groups: readonly ProbeGroup[];
}

export function probe(
  member: string,
  sent: Members,
  rest: Partial<Omit<Probe, 'member' | 'sent'>> | string = {},
): Probe {
  const given = typeof rest === 'string' ? { value: rest } : rest;
  return { member, sent, value: '', beside: {}, headers: {}, here: null, ...given };
}

/** A schema that every protocol takes. */
export const plainSchema = {
  type: 'object',
  properties: { city: { type: 'string', description: 'canary' } },
  required: ['city'],
  additionalProperties: false,
};

/** One pixel. */
export const pngBase64 =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** Why nothing becomes of some things (`Probe.here`). */
export const notReplayed = 'not sent: thoughts are for the model that had them';
export const noThoughts = 'nothing to do: it does not think';
export const shownAnyway = 'thoughts come as the upstream shows them';
export const alwaysStrict = 'schemas are always kept to';
