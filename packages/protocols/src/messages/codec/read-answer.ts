import type { ReaderContext } from '../../codec.ts';
import { readFinishReason } from '../../finish-reason.ts';
import { parseJson } from '../../refusal.ts';
import { unwrapInput } from '../../translate/custom-tool.ts';
import type { Block, RefusalBlock } from '../../turn.ts';
import type { Finish, OpenBlock, TurnAnswer } from '../../turn-event.ts';
import type { Usage } from '../../usage.ts';
import { listOf, recordOf, stringOf, type WireRecord } from '../../wire-values.ts';
import { readUsage } from '../meter.ts';
import { readCitations } from './citations.ts';

const decoder = new TextDecoder();

/** Reads a whole message of an upstream. What its own tools have done and said is not part of the answer. */
export function readAnswer(body: Uint8Array, context: ReaderContext): TurnAnswer {
  const message = recordOf(parseJson(decoder.decode(body)));
  const blocks = listOf(message['content']).flatMap((block) => readBlock(recordOf(block), context));
  return {
    answerId: stringOf(message['id']),
    model: stringOf(message['model']),
    content: [...blocks, ...readExplanation(message)],
    finish: readFinish(message, readUsage(message['usage'])),
  };
}

/** `stop_reason` and what belongs to it, of a message or of the last delta of one. */
export function readFinish(wire: WireRecord, usage: Usage | null): Finish {
  const rawReason = stringOf(wire['stop_reason']);
  return {
    reason: rawReason === null ? 'unknown' : readFinishReason(rawReason),
    rawReason,
    stopSequence: stringOf(wire['stop_sequence']),
    usage,
  };
}

/** The vendor's words on why it refuses, which stand outside the content. */
export function readExplanation(wire: WireRecord): readonly RefusalBlock[] {
  const text = stringOf(recordOf(wire['stop_details'])['explanation']) ?? '';
  return text === '' ? [] : [{ kind: 'refusal', text }];
}

/** A call under the caller's name for its tool. */
export function openCall(
  wire: WireRecord,
  { names, traceId }: ReaderContext,
): OpenBlock & { kind: 'tool-call' } {
  const sent = stringOf(wire['name']) ?? '';
  const own = names.get(sent) ?? { name: sent, namespace: null, form: 'function' as const };
  const { name, namespace, form } = own;
  return { kind: 'tool-call', id: stringOf(wire['id']) ?? `toolu_${traceId}`, name, namespace, form };
}

function readBlock(wire: WireRecord, context: ReaderContext): readonly Block[] {
  switch (wire['type']) {
    case 'text': {
      const citations = readCitations(wire['citations']);
      return [{ kind: 'text', text: stringOf(wire['text']) ?? '', citations, cacheTtl: null }];
    }
    case 'thinking':
      return [readThinking(wire, context)];
    case 'redacted_thinking': {
      const data = stringOf(wire['data']) ?? '';
      const sealed = { origin: context.origin, data, form: 'redacted' as const };
      return [{ kind: 'reasoning', text: '', sealed }];
    }
    case 'tool_use':
      return [readCall(wire, context)];
    default:
      return [];
  }
}

function readThinking(wire: WireRecord, { origin }: ReaderContext): Block {
  const data = stringOf(wire['signature']) ?? '';
  const sealed = data === '' ? null : { origin, data, form: 'signature' as const };
  return { kind: 'reasoning', text: stringOf(wire['thinking']) ?? '', sealed };
}

function readCall(wire: WireRecord, context: ReaderContext): Block {
  const open = openCall(wire, context);
  const text = JSON.stringify(recordOf(wire['input']));
  return { ...open, input: open.form === 'custom' ? unwrapInput(text) : text, sealed: null };
}
