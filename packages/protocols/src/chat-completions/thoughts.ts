import type { ReaderContext } from '../codec.ts';
import type { BlockSequencer } from '../translate/answer.ts';
import { markSealed, mayReturn, readSealed } from '../translate/seals.ts';
import { parseList, parseObject } from '../translate/tools.ts';
import type { ReasoningBlock, Sealed, ToolCallBlock } from '../turn.ts';
import { isRecord, listOf, numberOf, recordOf, stringOf, type WireRecord } from '../wire-values.ts';
import { noThought } from './edits.ts';

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

/**
 * Reasoning between an upstream and us. What lets it come back is what the upstream sent with it: its `reasoning_details`,
 * as JSON, or nothing but the name of the member that the text was in, which is asked for again while tools are at work.
 */
export const thoughtMembers = ['reasoning_content', 'reasoning'] as const;
export type ThoughtMember = (typeof thoughtMembers)[number];

function sealThoughts(
  origin: string,
  { text, member, details }: { text: string; member: string; details: readonly unknown[] },
): Sealed {
  const data = details.length > 0 ? JSON.stringify(details) : member;
  return { origin, data, form: text === '' ? 'redacted' : 'signature' };
}

/** An upstream's wish to get thoughts back in words: it may take them, or insist on some. */
export type ThoughtsWanted = 'never' | 'if-any' | 'always';

/** The members that give thoughts back to the upstream they came from. */
export function returnThoughts(
  blocks: readonly ReasoningBlock[],
  origin: string,
  wanted: ThoughtsWanted,
): WireRecord {
  let details: readonly unknown[] = [];
  let member: ThoughtMember | null = null;
  let text = '';
  for (const block of blocks) {
    if (!mayReturn(block.sealed, origin)) continue;
    const { data } = block.sealed;
    const list = parseList(data);
    if (list !== null) details = details.concat(list);
    member ??= thoughtMembers.find((name) => name === data) ?? null;
    text += block.text;
  }
  if (details.length > 0) return { reasoning_details: details };
  if (wanted === 'always') return { [member ?? thoughtMembers[0]]: text || noThought };
  return member === null || wanted === 'never' ? {} : { [member]: text };
}

/** State that came with a call beside the protocol's own members, and goes back with it. */
export function sealCall(origin: string, call: WireRecord): Sealed | null {
  const extra = call['extra_content'];
  const hasExtra = isRecord(extra) && Object.keys(extra).length > 0;
  return hasExtra ? { origin, data: JSON.stringify(extra), form: 'signature' } : null;
}

export function returnCallSeal({ sealed }: ToolCallBlock, origin: string): WireRecord {
  if (!mayReturn(sealed, origin)) return {};
  const extra = parseObject(sealed.data);
  return extra === null ? {} : { extra_content: extra };
}

/** Details of a stream: pieces of one entry, by its `index` and type, are put together. */
class DetailCollector {
  readonly #entries = new Map<string, Record<string, unknown>>();

  get entries(): readonly WireRecord[] {
    return [...this.#entries.values()];
  }

  add(value: unknown): void {
    const detail = recordOf(value);
    const key = `${numberOf(detail['index'])} ${stringOf(detail['type'])}`;
    const entry = this.#entries.get(key);
    if (entry === undefined) {
      this.#entries.set(key, { ...detail });
      return;
    }
    for (const [name, member] of Object.entries(detail)) {
      const before = stringOf(entry[name]);
      const isText = textMembers.includes(name) && before !== null && typeof member === 'string';
      if (isText) entry[name] = before + member;
      else if (member !== null) entry[name] = member;
    }
  }
}

const textMembers: readonly string[] = ['text', 'summary', 'data'];

/** Reads the thoughts in the deltas of one answer, under every name servers give them. */
export class ThoughtReader {
  readonly #context: ReaderContext;
  readonly #blocks: BlockSequencer<string | number>;
  #details = new DetailCollector();
  #member: string = thoughtMembers[0];
  #text = '';
  /** The text has a member of its own, so that the details only repeat it. */
  #isPlain = false;

  constructor(context: ReaderContext, blocks: BlockSequencer<string | number>) {
    this.#context = context;
    this.#blocks = blocks;
  }

  /** A delta has thoughts under any of their names. */
  isIn(delta: WireRecord): boolean {
    return detailsOf(delta).length > 0 || thoughtMembers.some((name) => (stringOf(delta[name]) ?? '') !== '');
  }

  /** Takes what is in a delta; a block is open. */
  take(delta: WireRecord): void {
    const details = detailsOf(delta);
    for (const detail of details) this.#details.add(detail);
    const member = thoughtMembers.find((name) => (stringOf(delta[name]) ?? '') !== '');
    this.#isPlain ||= member !== undefined;
    if (member !== undefined) this.add(stringOf(delta[member]) ?? '', member);
    else if (!this.#isPlain) for (const detail of details) this.add(detailText(detail), this.#member);
  }

  add(text: string, member: string): void {
    this.#member = member;
    this.#text += text;
    if (text !== '') this.#blocks.add('reasoning', { kind: 'text', text });
  }

  /** Closes the block, if one is open, with what lets it come back. */
  close(): void {
    if (!this.#blocks.has('reasoning')) return;
    const sealed = sealThoughts(this.#context.origin, {
      text: this.#text,
      member: this.#member,
      details: this.#details.entries,
    });
    this.#blocks.add('reasoning', { kind: 'sealed', sealed });
    this.#blocks.close('reasoning');
    this.#details = new DetailCollector();
    this.#text = '';
    this.#isPlain = false;
  }
}

function detailsOf(delta: WireRecord): readonly WireRecord[] {
  return listOf(delta['reasoning_details']).filter(isRecord);
}

function detailText(detail: WireRecord): string {
  return stringOf(detail['text']) ?? stringOf(detail['summary']) ?? '';
}
