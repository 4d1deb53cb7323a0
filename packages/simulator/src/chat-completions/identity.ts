import type { Choice, Finish } from '../answer/answer.ts';
import type { Tool } from '../answer/ask.ts';
import type { Rendering } from '../protocol.ts';

/** The members that are the same in every chunk of an answer. */
export function identityOf({ ask, command, stamp }: Rendering, object: string) {
  return {
    id: `chatcmpl-sim${padded(stamp.sequence)}`,
    object,
    created: stamp.createdS,
    model: command.served ?? ask.model,
    service_tier: 'default',
    system_fingerprint: 'fp_simulated',
  };
}

/** Unique in one simulator: its request, the choice and the call's number. */
export function callId({ stamp }: Rendering, choice: number, call: number): string {
  return `call_sim${padded(stamp.sequence)}_${choice}_${call}`;
}

const finishWords: Readonly<Record<Finish, string>> = {
  stop: 'stop',
  length: 'length',
  'tool-calls': 'tool_calls',
};

export function finishWord({ command }: Rendering, choice: Choice): string | null {
  return command.finish === undefined ? finishWords[choice.finish] : command.finish;
}

/** A call's own part in the spelling of its kind of tool. */
export function callPart(tool: Tool, text: string) {
  return tool.kind === 'custom'
    ? { custom: { name: tool.name, input: text } }
    : { function: { name: tool.name, arguments: text } };
}

function padded(sequence: number): string {
  return String(sequence).padStart(12, '0');
}
