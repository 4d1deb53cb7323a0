import { decodeString, KeyNames, type TextSpan } from '../bytes/json-text.ts';
import type { WalkedBody } from '../bytes/long-texts.ts';
import { JsonReader } from '../bytes/scan.ts';
import type { Edit } from '../bytes/splice.ts';
import { editedRequest, leaveOut, modelEdits, replace, withQuery } from '../request/edits.ts';
import type { RequestMembers } from '../request/members.ts';
import type { EncodedRequest, PassthroughTarget } from '../request.ts';
import { readSealed } from '../translate/seals.ts';
import { recordOf } from '../wire-values.ts';
import type { ReadRequest } from './request.ts';
import { type RequestMember, upstreamHeaders } from './wire.ts';

/** Members of the caller's query that go upstream as sent. */
const forwardedQuery = ['beta'];

/** The caller's bytes for one target: changed only where its alias needs it, and thoughts that another protocol's target had. */
export function passThrough(request: ReadRequest, search: string, target: PassthroughTarget): EncodedRequest {
  const { facts, work, members, headers } = request;
  const edits = [
    ...modelEdits(members.span('model'), facts.model, target.upstreamModel),
    ...(target.edits ?? []),
    ...thoughtEdits(members, target.origin),
  ];
  const path = withQuery(work === 'count' ? countingPath(target.path) : target.path, search, forwardedQuery);
  const edited = editedRequest(path, members.body, edits, upstreamHeaders(headers, target.dialect));
  return { ...edited, edits: [...new Set(edited.edits)] };
}

/** Tokens are counted below the path of answers. */
function countingPath(path: string): string {
  const end = path.includes('?') ? path.indexOf('?') : path.length;
  return `${path.slice(0, end)}/count_tokens${path.slice(end)}`;
}

interface Block extends TextSpan {
  readonly type: string | null;
  /** The signature, or what stands in the place of thoughts. */
  readonly sealed: TextSpan | null;
}

interface Message extends TextSpan {
  readonly blocks: readonly Block[];
}

/**
 * All that has to change in thoughts that a target of another protocol had sealed, and that this caller got under our mark:
 * those of this target get their own seal back, those of others, which it would refuse, are removed, and so is a message
 * of nothing else. Nothing where the mark is nowhere, which the scan of the body tells.
 */
function thoughtEdits(members: RequestMembers<RequestMember>, origin: string): readonly Edit[] {
  const span = members.span('messages');
  const { body } = members;
  if (span === undefined || !members.hasMark) return [];
  const messages = readMessages(members, span.start);
  const isEmptied = ({ blocks }: Message) =>
    blocks.length > 0 && blocks.every((block) => isForeign(body, block, origin));
  const edits = messages
    .filter((message) => !isEmptied(message))
    .flatMap(({ blocks }) => [
      ...blocks.flatMap((block) => unmarking(body, block, origin)),
      ...removals(blocks, (block) => isForeign(body, block, origin)),
    ]);
  const isUnsigned = isLoopUnsigned(messages, (block) => isForeign(body, block, origin));
  return [...edits, ...removals(messages, isEmptied), ...(isUnsigned ? withoutThinking(members) : [])];
}

/** The origin that our mark names; `native` for a thought that has none, null for any other block. */
function sealOf(body: Uint8Array, { type, sealed }: Block) {
  if (sealed === null || (type !== 'thinking' && type !== 'redacted_thinking')) return null;
  const text = decodeString(body, sealed.start, sealed.end);
  return text === null ? null : readSealed(text, type === 'thinking' ? 'signature' : 'redacted');
}

function isForeign(body: Uint8Array, block: Block, origin: string): boolean {
  const seal = sealOf(body, block);
  return seal !== null && seal.origin !== 'native' && seal.origin !== origin;
}

function unmarking(body: Uint8Array, block: Block, origin: string): readonly Edit[] {
  const seal = sealOf(body, block);
  if (seal === null || block.sealed === null || seal.origin !== origin) return [];
  return [replace('own-state', block.sealed.start, block.sealed.end, JSON.stringify(seal.data))];
}

function removals<Element extends TextSpan>(
  elements: readonly Element[],
  isRemoved: (element: Element) => boolean,
): readonly Edit[] {
  return leaveOut(
    'foreign-state',
    elements.map((element) => ({ start: element.start, end: element.end, isLeftOut: isRemoved(element) })),
  );
}

/** The model is in the middle of a use of tools, and the thoughts it began with are removed. */
function isLoopUnsigned(messages: readonly Message[], isRemoved: (block: Block) => boolean): boolean {
  const [call, result] = messages.slice(-2);
  return call?.blocks.some(isRemoved) === true && result?.blocks[0]?.type === 'tool_result';
}

/** A model that thinks by budget insists on those thoughts while it thinks, so this once it does not. */
function withoutThinking(members: RequestMembers<RequestMember>): readonly Edit[] {
  const span = members.span('thinking');
  if (span === undefined || recordOf(members.value('thinking'))['type'] !== 'enabled') return [];
  return [replace('thinking', span.start, span.end, '{"type":"disabled"}')];
}

const contentName = new KeyNames(['content']);
const blockNames = new KeyNames(['type', 'signature', 'data']);

function readMessages({ body, longTexts }: WalkedBody, at: number): readonly Message[] {
  const reader = new JsonReader(body, at, longTexts);
  return readElements(reader, () => {
    let blocks: readonly Block[] = [];
    while (reader.nextMember()) {
      const isContent = contentName.findDecoded(body, reader.keyStart, reader.keyEnd) !== null;
      if (isContent) blocks = readElements(reader, () => readBlock(reader));
      else reader.skip();
    }
    return { blocks };
  });
}

function readBlock(reader: JsonReader): Omit<Block, keyof TextSpan> {
  let type: string | null = null;
  let sealed: TextSpan | null = null;
  while (reader.nextMember()) {
    const name = blockNames.findDecoded(reader.bytes, reader.keyStart, reader.keyEnd);
    if (name === 'type') type = readText(reader);
    else {
      const start = reader.at;
      const end = reader.skip();
      if (name !== null) sealed = { start, end };
    }
  }
  return { type, sealed };
}

/** The objects of a list, where they stand and what was read of each. Any other list is left alone, and is the upstream's to refuse. */
function readElements<Read extends object>(
  reader: JsonReader,
  read: () => Read,
): readonly (TextSpan & Read)[] {
  const elements: (TextSpan & Read)[] = [];
  if (!reader.enterArray()) return elements;
  while (reader.nextElement()) {
    const start = reader.at;
    if (!reader.enterObject()) return leave(reader);
    const element = read();
    elements.push({ start, end: reader.at, ...element });
  }
  return elements;
}

/** Steps over what is left of the list at hand. */
function leave(reader: JsonReader): readonly never[] {
  while (reader.nextElement()) reader.skip();
  return [];
}

function readText(reader: JsonReader): string | null {
  const start = reader.at;
  const end = reader.skip();
  return end === -1 ? null : decodeString(reader.bytes, start, end);
}
