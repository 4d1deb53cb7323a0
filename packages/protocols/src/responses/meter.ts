import { KeyNames, type TextSpan, writtenBytes } from '../bytes/json-text.ts';
import type { JsonReader } from '../bytes/scan.ts';
import { readFees, readInputParts, readOutputParts, type Usage } from '../usage.ts';
import { isRecord, recordOf, tokenCount } from '../wire-values.ts';
import {
  callItemTypes,
  feeItemTypes,
  foreignMembers,
  itemMembers,
  textItemTypes,
  textMembers,
} from './wire.ts';

/**
 * Usage in parts that never overlap, from the wire's `usage` object. Its input includes what the cache read and wrote, its
 * output the reasoning; the parts always add up to them, however the details contradict them. Null when there is no count
 * in it: then usage was not reported.
 */
export function readUsage(wire: unknown): Usage | null {
  if (!isRecord(wire)) return null;
  const input = tokenCount(wire['input_tokens']);
  const output = tokenCount(wire['output_tokens']);
  if (input === null && output === null) return null;
  const { input_tokens_details: inputDetails, output_tokens_details: outputDetails } = wire;
  const reasoning = tokenCount(recordOf(outputDetails)['reasoning_tokens']);
  return {
    ...readFees(wire),
    ...readInputParts(input ?? 0, inputDetails),
    ...readOutputParts(output ?? 0, outputDetails, reasoning),
  };
}

const textNames = new KeyNames(textMembers);
const foreignNames = new KeyNames(foreignMembers);
const itemNames = new KeyNames(itemMembers);
const refusalName = new KeyNames(['refusal']);
const textItems = new KeyNames(textItemTypes);
const callItems = new KeyNames(callItemTypes);
const feeItems = new KeyNames(feeItemTypes);

/** Counts what the model produced in the parts of an answer it is shown. */
export class OutputCount {
  /** Bytes of UTF-8 text. */
  bytes = 0;
  hasText = false;
  /** An item said by its kind alone that the model did something. */
  hasActs = false;
  hasSeals = false;
  hasCalls = false;
  hasRefusal = false;
  /** The items with a fee, where they stand in the bytes. */
  readonly feeItems: TextSpan[] = [];
  #hasFee = false;

  /** Takes the item at the reader. */
  takeItem(reader: JsonReader): void {
    const start = reader.at;
    this.#hasFee = false;
    if (!reader.enterObject()) return;
    while (reader.nextMember()) {
      const name = itemNames.find(reader.bytes, reader.keyStart, reader.keyEnd);
      if (name === null) this.takeMember(reader);
      else if (name === 'type') this.#takeType(reader);
      else if (isFilledString(reader)) this.hasSeals = true;
    }
    if (this.#hasFee) this.feeItems.push({ start, end: reader.at });
  }

  /** Takes the member at the reader: its text if it holds some, and the text within it. */
  takeMember(reader: JsonReader): void {
    const { bytes, keyStart, keyEnd } = reader;
    if (foreignNames.find(bytes, keyStart, keyEnd) !== null) reader.skip();
    else if (reader.kind !== 'string') this.#takeWithin(reader);
    else if (textNames.find(bytes, keyStart, keyEnd) === null) reader.skip();
    else this.#takeText(reader);
  }

  #takeType(reader: JsonReader): void {
    const start = reader.at + 1;
    const end = reader.skip() - 1;
    if (textItems.find(reader.bytes, start, end) === null) this.hasActs = true;
    if (callItems.find(reader.bytes, start, end) !== null) this.hasCalls = true;
    if (feeItems.find(reader.bytes, start, end) !== null) this.#hasFee = true;
  }

  #takeWithin(reader: JsonReader): void {
    if (reader.kind === 'array') {
      reader.enterArray();
      while (reader.nextElement()) this.#takeWithin(reader);
      return;
    }
    if (!reader.enterObject()) return;
    while (reader.nextMember()) this.takeMember(reader);
  }

  #takeText(reader: JsonReader): void {
    const isRefusal = refusalName.find(reader.bytes, reader.keyStart, reader.keyEnd) !== null;
    const start = reader.at;
    const end = reader.skip();
    if (end - start <= 2) return;
    this.hasText = true;
    this.bytes += writtenBytes(reader.bytes, start, end);
    if (isRefusal) this.hasRefusal = true;
  }
}

function isFilledString(reader: JsonReader): boolean {
  const { kind, at: start } = reader;
  return reader.skip() - start > 2 && kind === 'string';
}
