import { parseList, parseObject } from '../../translate/parse-object.ts';
import { mayReturn } from '../../translate/sealed-mark.ts';
import type { ReasoningBlock, Sealed, ToolCallBlock } from '../../turn.ts';
import { isRecord, numberOf, recordOf, stringOf, type WireRecord } from '../../wire-values.ts';
import { noThought } from '../expected-reasoning.ts';

/**
 * Reasoning between an upstream and us. What lets it come back is what the upstream sent with it: its `reasoning_details`,
 * as JSON, or nothing but the name of the member that the text was in, which is asked for again while tools are at work.
 */
export const thoughtMembers = ['reasoning_content', 'reasoning'] as const;
export type ThoughtMember = (typeof thoughtMembers)[number];

export function sealThoughts(
  origin: string,
  { text, member, details }: { text: string; member: string; details: readonly unknown[] },
): Sealed {
  const data = details.length > 0 ? JSON.stringify(details) : member;
  return { origin, data, form: text === '' ? 'redacted' : 'signature' };
}

/** Whether an upstream is to get thoughts back in words, and whether it insists on some. */
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

/** What came with a call beside what the protocol knows, and goes back with it. */
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
export class DetailCollector {
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
