import { unreachable } from '../result.ts';
import type { Block, ToolCallBlock } from '../turn.ts';
import type { BlockDelta, OpenBlock, TurnAnswer, TurnEvent } from '../turn-event.ts';

/** A whole answer as the events that would make it; the other way round than `collectAnswer`. */
export function* answerEvents(answer: TurnAnswer): Generator<TurnEvent, void, undefined> {
  const { answerId, model, content, finish } = answer;
  yield { kind: 'start', answerId, model, usage: null };
  for (const block of content) yield* blockEvents(block);
  yield { kind: 'finish', ...finish };
}

function* blockEvents(block: Block): Generator<TurnEvent, void, undefined> {
  const open = openingOf(block);
  // A model answers with no results of tools.
  if (open === null) return;
  yield { kind: 'block-start', block: open };
  for (const delta of deltasOf(block)) yield { kind: 'delta', delta };
  yield { kind: 'block-stop' };
}

function openingOf(block: Block): OpenBlock | null {
  switch (block.kind) {
    case 'text':
    case 'reasoning':
    case 'refusal':
      return { kind: block.kind };
    case 'media':
      return block;
    case 'tool-call':
      return openCall(block);
    case 'tool-result':
      return null;
    default:
      return unreachable(block);
  }
}

function openCall({ kind, id, name, namespace, form }: ToolCallBlock): OpenBlock {
  return { kind, id, name, namespace, form };
}

function deltasOf(block: Block): readonly BlockDelta[] {
  switch (block.kind) {
    case 'text':
      return [
        ...textDelta(block.text),
        ...block.citations.map((citation) => ({ kind: 'citation' as const, citation })),
      ];
    case 'refusal':
      return textDelta(block.text);
    case 'reasoning':
      return [...textDelta(block.text), ...sealedDelta(block.sealed)];
    case 'tool-call':
      return [...textDelta(block.input), ...sealedDelta(block.sealed)];
    case 'media':
    case 'tool-result':
      return [];
    default:
      return unreachable(block);
  }
}

function textDelta(text: string): readonly BlockDelta[] {
  return text === '' ? [] : [{ kind: 'text', text }];
}

function sealedDelta(sealed: ToolCallBlock['sealed']): readonly BlockDelta[] {
  return sealed === null ? [] : [{ kind: 'sealed', sealed }];
}
