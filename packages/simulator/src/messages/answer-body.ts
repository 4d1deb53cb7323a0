import { parseJson } from '../json.ts';
import type { Rendering } from '../protocol.ts';
import { type Block, blocksOf } from './blocks.ts';
import { callId, identityOf, signatureOf, stopMembers } from './identity.ts';
import { encodeUsage } from './usage.ts';

/** The whole answer as one JSON object. */
export function answerBody(rendering: Rendering): string {
  const { answer, command } = rendering;
  return JSON.stringify({
    ...identityOf(rendering),
    content: blocksOf(answer).map((block) => encodeBlock(rendering, block)),
    ...stopMembers(rendering),
    ...(command.usage === 'never' ? {} : { usage: encodeUsage(answer.usage) }),
  });
}

function encodeBlock(rendering: Rendering, block: Block): object {
  const text = block.pieces.join('');
  switch (block.kind) {
    case 'thinking':
      return { type: 'thinking', thinking: text, signature: signatureOf(rendering) };
    case 'text':
      return { type: 'text', text, citations: null };
    case 'tool_use':
      return { ...openCall(rendering, block), input: inputOf(text) };
  }
}

/** A call before its arguments have come. */
export function openCall(rendering: Rendering, { token }: Extract<Block, { kind: 'tool_use' }>) {
  const caller = { type: 'direct' };
  return { type: 'tool_use', id: callId(rendering, token.call), name: token.tool.name, input: {}, caller };
}

/** Arguments that the limit has cut off are no JSON any more; a whole answer then has none. */
function inputOf(text: string): unknown {
  return parseJson(text) ?? {};
}
