import type { TranslationTarget, WrittenTurn } from '../codec.ts';
import type { Fault } from '../error.ts';
import { jsonRequest } from '../request/edits.ts';
import { type Result, unreachable } from '../result.ts';
import { schemaSupport } from '../translate/json-schema/obstacles.ts';
import type { Support } from '../translate/least-loss.ts';
import type { TraitSupport } from '../translate/losses.ts';
import { mayReturn } from '../translate/seals.ts';
import { parseObject, wrapInput } from '../translate/tools.ts';
import { type OrderedMessage, orderTurns } from '../translate/turn-order.ts';
import { TurnWriting } from '../translate/writing.ts';
import type {
  Block,
  MediaBlock,
  MediaKind,
  Message,
  ReasoningBlock,
  ToolCallBlock,
  ToolResultBlock,
  Turn,
} from '../turn.ts';
import { pathOf } from './edits.ts';
import { isVendorUri } from './read-messages.ts';
import { foreignCallSignature } from './signature.ts';
import { generateContentSurface, generationOf } from './wire.ts';
import { limitsOf, settingSupport, writeSettings } from './write-settings.ts';
import { nameRule, writeToolMembers } from './write-tools.ts';

const traits: TraitSupport = {
  citations: 'dropped',
  'cache-mark': 'dropped',
  'image-detail': 'carried',
  filename: 'dropped',
  'media-name': 'dropped',
  'call-seal': 'dropped',
};

export function supportOf(turn: Turn, target: TranslationTarget): Support {
  const schema = schemaSupport(turn, limitsOf(generationOf(target.upstreamModel)), 'refused');
  return { settings: settingSupport(turn, target), traits, thoughts: 'carried', schema };
}

export function writeTurn(turn: Turn, target: TranslationTarget): Result<WrittenTurn, Fault> {
  const writing = new TurnWriting(turn, target, nameRule);
  writing.noteLosses(generateContentSurface, settingSupport(turn, target), traits);
  const body = {
    contents: writeContents(writing),
    ...writeSystem(turn),
    ...writeToolMembers(writing),
    ...writeSettings(writing),
  };
  const action = turn.stream ? 'streamGenerateContent' : 'generateContent';
  return writing.finish(jsonRequest(pathOf(target, action, turn.stream ? 'sse' : null), body));
}

function writeSystem({ system }: Turn): object {
  const parts = system.flatMap(({ text }) => (text.trim() === '' ? [] : [{ text }]));
  return parts.length === 0 ? {} : { systemInstruction: { parts } };
}

/** A part as it is sent. */
type Part = Record<string, unknown>;

function writeContents(writing: TurnWriting): readonly object[] {
  const { messages } = writing.turn;
  if (messages.some(({ name }) => name !== null)) writing.drop('messages[].name');
  const turns = orderTurns(messages.map((message) => returnable(message, writing)));
  const writer = new ContentsWriter(writing);
  const currentAt = turns.findLastIndex(isAsked);
  return turns.map((turn, index) => ({
    role: turn.role === 'user' ? 'user' : 'model',
    parts: turn.role === 'user' ? writer.user(turn) : writer.model(turn, index > currentAt),
  }));
}

/** A user who does more than return what tools gave begins a new turn. */
function isAsked({ role, content }: OrderedMessage): boolean {
  return role === 'user' && content.some(({ kind }) => kind !== 'tool-result');
}

/** Without thoughts that did not come from here: they would be refused, and are nobody's words. */
function returnable(message: Message, writing: TurnWriting): Message {
  const content = message.content.filter((block) => {
    if (block.kind !== 'reasoning') return true;
    if (block.sealed?.origin === 'native') writing.drop(writing.surface.sealed);
    return mayReturn(block.sealed, writing.target.origin);
  });
  return { ...message, content };
}

class ContentsWriter {
  readonly #writing: TurnWriting;
  /** The calls so far, by their ids: results name the tool they are from. */
  readonly #calls = new Map<string, ToolCallBlock>();

  constructor(writing: TurnWriting) {
    this.#writing = writing;
  }

  /** Results stand first, and what they hold beside text behind all of them. */
  user({ content }: OrderedMessage): readonly Part[] {
    const results = content.filter((block) => block.kind === 'tool-result');
    const others = content.filter((block) => block.kind !== 'tool-result');
    const media = results.flatMap((result) => result.content.filter((block) => block.kind === 'media'));
    return [
      ...results.map((result) => this.#result(result)),
      ...[...media, ...others].flatMap((block) => this.#spoken(block)),
    ];
  }

  /** `isCurrent`: it belongs to the turn that is being answered. */
  model({ content }: OrderedMessage, isCurrent: boolean): readonly Part[] {
    const parts: Part[] = [];
    for (const block of content) {
      if (block.kind === 'reasoning') this.#thought(block, parts);
      else if (block.kind === 'tool-call') parts.push(this.#call(block));
      else parts.push(...this.#spoken(block));
    }
    if (isCurrent) signFirstCall(parts);
    return parts;
  }

  #spoken(block: Block): readonly Part[] {
    switch (block.kind) {
      case 'text':
      case 'refusal':
        return [{ text: block.text }];
      case 'media':
        return writeMedia(block, this.#writing);
      case 'reasoning':
      case 'tool-call':
      case 'tool-result':
        return [];
      default:
        return unreachable(block);
    }
  }

  /** A seal without a thought is that of the part before it, where that has none. */
  #thought({ text, sealed }: ReasoningBlock, parts: Part[]): void {
    const thoughtSignature = sealed?.data ?? '';
    const last = parts.at(-1);
    if (text !== '') parts.push({ text, thought: true, thoughtSignature });
    else if (last === undefined || 'thoughtSignature' in last || last['thought'] === true)
      parts.push({ text: '', thoughtSignature });
    else last['thoughtSignature'] = thoughtSignature;
  }

  #call(block: ToolCallBlock): Part {
    const { naming, target } = this.#writing;
    this.#calls.set(block.id, block);
    const seal = mayReturn(block.sealed, target.origin) ? { thoughtSignature: block.sealed.data } : {};
    return {
      functionCall: { ...idMember(block.id), name: naming.sent(block), args: this.#args(block) },
      ...seal,
    };
  }

  #args({ form, input }: ToolCallBlock): object {
    const args = parseObject(form === 'custom' ? wrapInput(input) : input);
    if (args === null) this.#writing.change(this.#writing.surface.arguments, 'malformed, sent as none');
    return args ?? {};
  }

  #result(block: ToolResultBlock): Part {
    const call = this.#calls.get(block.callId);
    const name = call === undefined ? 'unknown' : this.#writing.naming.sent(call);
    return { functionResponse: { ...idMember(block.callId), name, response: responseOf(block) } };
  }
}

/** The first one of those that stand side by side has the seal. */
function signFirstCall(parts: readonly Part[]): void {
  const call = parts.find((part) => 'functionCall' in part);
  if (call !== undefined) call['thoughtSignature'] ??= foreignCallSignature;
}

/** Ids of ours stand for none, where the model gave or took none. */
const madeUpId = /^call_(?:at_\d+|[0-9a-f]{32}_\d+)$/;

function idMember(id: string): object {
  return id === '' || madeUpId.test(id) ? {} : { id };
}

/** An object is the response; anything else is its output, or its error. */
function responseOf({ content, isError }: ToolResultBlock): object {
  const text = content.flatMap((block) => (block.kind === 'text' ? [block.text] : [])).join('\n');
  if (isError) return { error: text };
  return parseObject(text) ?? { output: text };
}

/** Media as a part. What is still named by URL can be opened by this protocol's vendor only where it is its own. */
function writeMedia(block: MediaBlock, writing: TurnWriting): readonly Part[] {
  const { source, media, mediaType, filename } = block;
  switch (source.kind) {
    case 'base64': {
      const mimeType = mediaType ?? typeOfData(source.data, media);
      return [{ inlineData: { mimeType, data: source.data } }];
    }
    case 'text':
      writing.change(writing.surface.media[media], 'sent as text');
      return [{ text: [filename, source.text].filter(Boolean).join('\n\n') }];
    case 'url':
    case 'id':
      return writeReference(block, source.kind === 'url' ? source.url : source.id, writing);
    default:
      return unreachable(source);
  }
}

function writeReference({ media, mediaType, source }: MediaBlock, uri: string, writing: TurnWriting) {
  const { surface } = writing;
  const isOwn = isVendorUri(uri, mediaType) && (source.kind === 'url' || surface === generateContentSurface);
  if (isOwn) return [{ fileData: { ...(mediaType === null ? {} : { mimeType: mediaType }), fileUri: uri } }];
  writing.refuse(surface.media[media], 'send its content itself, in base64');
  return [];
}

/** How the data of each type begin, in base64. */
const beginnings: readonly (readonly [string, string])[] = [
  ['/9j/', 'image/jpeg'],
  ['iVBORw', 'image/png'],
  ['R0lGOD', 'image/gif'],
  ['UklGR', 'image/webp'],
  ['JVBERi', 'application/pdf'],
];

const types: Readonly<Record<MediaKind, string>> = {
  image: 'image/png',
  audio: 'audio/wav',
  file: 'application/pdf',
};

/** The type must be said here; where the caller did not, the data do. */
function typeOfData(data: string, media: MediaKind): string {
  return beginnings.find(([beginning]) => data.startsWith(beginning))?.[1] ?? types[media];
}
