import { type CallRun, type Run, runsOf } from '../answer/runs.ts';
import { parseJson } from '../json.ts';
import type { Rendering } from '../protocol.ts';
import { callId, identityOf, signatureOf, stopMembers } from './identity.ts';
import { encodeUsage } from './usage.ts';

/** The whole answer as one JSON object. */
export function answerBody(rendering: Rendering): string {
  const { answer, command } = rendering;
  return JSON.stringify({
    ...identityOf(rendering),
    content: runsOf(answer).map((run) => encodeBlock(rendering, run)),
    ...stopMembers(rendering),
    ...(command.usage === 'never' ? {} : { usage: encodeUsage(answer.usage) }),
  });
}

function encodeBlock(rendering: Rendering, run: Run): object {
  const text = run.pieces.join('');
  switch (run.kind) {
    case 'reasoning':
      return { type: 'thinking', thinking: text, signature: signatureOf(rendering) };
    case 'text':
    case 'refusal':
      return { type: 'text', text, citations: null };
    case 'call':
      return { ...openCall(rendering, run), input: inputOf(text) };
  }
}

/** A call before its arguments have come. */
export function openCall(rendering: Rendering, { call, tool }: CallRun) {
  const caller = { type: 'direct' };
  return { type: 'tool_use', id: callId(rendering, call), name: tool.name, input: {}, caller };
}

/** Arguments that the limit has cut off are no JSON any more; a whole answer then has none. */
function inputOf(text: string): unknown {
  return parseJson(text) ?? {};
}
