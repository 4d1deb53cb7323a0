import { chatCompletions } from './chat-completions/index.ts';
import { messages } from './messages/index.ts';
import type { Protocol, ProtocolId } from './protocol.ts';

/** The wire formats that are spoken. A new one is a folder and a line here. */
export const protocols: Readonly<Partial<Record<ProtocolId, Protocol>>> = {
  'chat-completions': chatCompletions,
  messages,
};
