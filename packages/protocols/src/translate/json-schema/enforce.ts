import type { ProtocolId } from '../../inbound-request.ts';
import type { WireRecord } from '../../wire-values.ts';
import { strictSchema } from './strict-schema.ts';

/** Of the same inventors, who mean the same by a strict schema. */
export function isSibling(surface: ProtocolId): boolean {
  return surface === 'chat-completions' || surface === 'responses';
}

export interface EnforcedSchema {
  readonly schema: WireRecord;
  readonly strict: boolean;
}

/**
 * A schema as it can be enforced. One that was written for this vendor is sent as it is; another one in the form that can
 * be, or, where there is none, as advice.
 */
export function enforce({ schema, strict }: EnforcedSchema, surface: ProtocolId): EnforcedSchema {
  if (!strict || isSibling(surface)) return { schema, strict };
  const enforced = strictSchema(schema);
  return enforced === null ? { schema, strict: false } : { schema: enforced, strict: true };
}
