import { chatCompletions } from './chat-completions/index.ts';
import { generateContent } from './generate-content/index.ts';
import { images } from './images/index.ts';
import type { ProtocolId } from './inbound-request.ts';
import { messages } from './messages/index.ts';
import type { Protocol } from './protocol.ts';
import { responses } from './responses/index.ts';

/** The wire formats that are spoken. A new one is a folder and a line here. */
export const protocols: Readonly<Partial<Record<ProtocolId, Protocol>>> = {
  'chat-completions': chatCompletions,
  images,
  messages,
  responses,
  'generate-content': generateContent,
};

/** In what order another protocol is looked for: those that can say most come first. */
const byExpression: readonly ProtocolId[] = ['responses', 'messages', 'generate-content', 'chat-completions'];

/** The protocols in which an upstream can be called for a caller of this one, best first: its own, then by translation. */
const upstreamProtocols: ReadonlyMap<ProtocolId, readonly ProtocolId[]> = new Map(
  Object.values(protocols).map(({ id, codec }) => [id, [id, ...(codec === null ? [] : othersOf(id))]]),
);

function othersOf(surface: ProtocolId): readonly ProtocolId[] {
  return byExpression.filter((id) => id !== surface && (protocols[id]?.codec ?? null) !== null);
}

/** The one of an upstream's protocols in which a caller of `surface` is served; null when there is none. */
export function upstreamProtocolOf(
  surface: ProtocolId,
  spoken: Readonly<Partial<Record<ProtocolId, unknown>>>,
): ProtocolId | null {
  return upstreamProtocols.get(surface)?.find((id) => spoken[id] !== undefined) ?? null;
}
