import { chatCompletionsProbes } from './chat-completions-probes.ts';
import { generateContentProbes } from './generate-content-probes.ts';
import { messagesProbes } from './messages-probes.ts';
import { type ProbeSheet, type SurfaceId, surfaces } from './probe.ts';
import { responsesProbes } from './responses-probes.ts';

/** All that is known of what callers send, by protocol. */
export const sheets: readonly ProbeSheet[] = [
  chatCompletionsProbes,
  responsesProbes,
  messagesProbes,
  generateContentProbes,
];

/** The protocols to which a caller's request is translated. */
export function upstreamsOf({ surface }: ProbeSheet): readonly SurfaceId[] {
  return surfaces.filter((id) => id !== surface);
}
