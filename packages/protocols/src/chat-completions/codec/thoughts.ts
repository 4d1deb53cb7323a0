import { markSealed, readSealed } from '../../translate/sealed-mark.ts';
import type { ReasoningBlock, Sealed } from '../../turn.ts';
import { listOf, recordOf, stringOf, type WireRecord } from '../../wire-values.ts';

/**
 * Reasoning between a caller and us. The protocol has no place for it; by common usage its text is `reasoning_content`, and
 * `reasoning_details` is what clients hand back as it was, a list of `{type: 'reasoning.text', text, signature}` and
 * `{type: 'reasoning.encrypted', data}`.
 */
export function readThoughts(message: WireRecord): readonly ReasoningBlock[] {
  const details = listOf(message['reasoning_details']).flatMap((detail) => readDetail(recordOf(detail)));
  if (details.length > 0) return details;
  const blocks = listOf(message['thinking_blocks']).flatMap((block) => readBlock(recordOf(block)));
  return blocks.length > 0 ? blocks : thought(thoughtText(message), null);
}

/** The text of reasoning, under either of its names; empty when there is none. */
function thoughtText(holder: WireRecord): string {
  return stringOf(holder['reasoning_content']) || stringOf(holder['reasoning']) || '';
}

/** The entry of `reasoning_details` that lets a thought come back; its text is in it because the seal is of that text. */
export function writeDetail(text: string, sealed: Sealed, index: number): WireRecord {
  return sealed.form === 'redacted'
    ? { type: 'reasoning.encrypted', data: markSealed(sealed), index }
    : { type: 'reasoning.text', text, signature: markSealed(sealed), index };
}

function readDetail(detail: WireRecord): readonly ReasoningBlock[] {
  const data = stringOf(detail['data']);
  if (data !== null) return thought('', readSealed(data, 'redacted'));
  const signature = stringOf(detail['signature']);
  const text = stringOf(detail['text']) ?? stringOf(detail['summary']) ?? '';
  return thought(text, signature === null ? null : readSealed(signature, 'signature'));
}

/** `{type: 'thinking', thinking, signature}` and `{type: 'redacted_thinking', data}`: another carrier in use. */
function readBlock(block: WireRecord): readonly ReasoningBlock[] {
  return readDetail({ ...block, text: block['thinking'] });
}

function thought(text: string, sealed: Sealed | null): readonly ReasoningBlock[] {
  return text === '' && sealed === null ? [] : [{ kind: 'reasoning', text, sealed }];
}

/** Within `extra_content` of a call: where clients look for state that came with it, and keep it. */
const callSealPath = 'google.thought_signature';

/** That state, whoever it is named after. */
export function readCallSeal(call: WireRecord): Sealed | null {
  const extra = recordOf(call['extra_content']);
  for (const vendor of Object.values(extra)) {
    const signature = stringOf(recordOf(vendor)['thought_signature']);
    if (signature !== null) return readSealed(signature, 'signature');
  }
  return null;
}

export function writeCallSeal(sealed: Sealed): WireRecord {
  const [holder = '', member = ''] = callSealPath.split('.');
  return { extra_content: { [holder]: { [member]: markSealed(sealed) } } };
}
