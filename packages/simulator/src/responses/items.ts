import type { CallRun, Run } from '../answer/runs.ts';
import { onlyChoice, runsOf } from '../answer/runs.ts';
import { listOf } from '../json.ts';
import type { Rendering } from '../protocol.ts';
import { callId, itemId, sealedReasoning } from './identity.ts';

/** How far an item has come: opened and empty, or whole. */
type Stage = 'opening' | 'whole';

/** All items of the answer as they are at its end. */
export function wholeItems(rendering: Rendering): readonly object[] {
  return runsOf(rendering.answer).map((run, index) => encodeItem(rendering, run, index, 'whole'));
}

export function encodeItem(rendering: Rendering, run: Run, index: number, stage: Stage): object {
  const id = itemId(rendering, run, index);
  const status = stage === 'whole' ? finalStatus(rendering, index) : 'in_progress';
  switch (run.kind) {
    case 'reasoning':
      return encodeReasoning(rendering, run, id, stage);
    case 'text':
    case 'refusal': {
      const content = stage === 'whole' ? [encodePart(run.kind, run.pieces.join(''))] : [];
      return { id, type: 'message', status, content, role: 'assistant' };
    }
    case 'call':
      return encodeCall(rendering, run, id, status, stage);
  }
}

/** The only part of a message or of a refusal. */
export function encodePart(kind: 'text' | 'refusal', text: string): object {
  return kind === 'text'
    ? { type: 'output_text', annotations: [], logprobs: [], text }
    : { type: 'refusal', refusal: text };
}

export function encodeSummary(text: string): object {
  return { type: 'summary_text', text };
}

/** Reasoning is summed up when there is any to show, and sealed when the caller asks for that. */
function encodeReasoning(rendering: Rendering, { pieces }: Run, id: string, stage: Stage): object {
  const isShown = stage === 'whole' && pieces.length > 0;
  const wantsSeal = listOf(rendering.body['include']).includes('reasoning.encrypted_content');
  return {
    id,
    type: 'reasoning',
    ...(wantsSeal ? { encrypted_content: sealedReasoning(rendering, stage) } : {}),
    summary: isShown ? [encodeSummary(pieces.join(''))] : [],
  };
}

function encodeCall(rendering: Rendering, run: CallRun, id: string, status: string, stage: Stage): object {
  const { tool, call, pieces } = run;
  const text = stage === 'whole' ? pieces.join('') : '';
  const shared = {
    status,
    call_id: callId(rendering, call),
    name: tool.name,
    ...(tool.namespace === undefined ? {} : { namespace: tool.namespace }),
  };
  return tool.kind === 'custom'
    ? { id, type: 'custom_tool_call', input: text, ...shared }
    : { id, type: 'function_call', arguments: text, ...shared };
}

/** The limit cuts the last item off. */
function finalStatus({ answer }: Rendering, index: number): string {
  const isLast = index === runsOf(answer).length - 1;
  return isLast && onlyChoice(answer).finish === 'length' ? 'incomplete' : 'completed';
}
