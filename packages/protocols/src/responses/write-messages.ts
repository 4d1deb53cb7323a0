import type { TranslationTarget, WrittenTurn } from '../codec.ts';
import type { Fault } from '../error.ts';
import { jsonRequest } from '../request/edits.ts';
import { type Result, unreachable } from '../result.ts';
import { adviceSupport, enforce } from '../translate/json-schema/strict-schema.ts';
import type { Support } from '../translate/least-loss.ts';
import type { TraitSupport } from '../translate/losses.ts';
import { dataUrl } from '../translate/media.ts';
import { mayReturn } from '../translate/seals.ts';
import { legalName, type NameRule } from '../translate/tools.ts';
import { TurnWriting } from '../translate/writing.ts';
import type {
  Block,
  Citation,
  MediaBlock,
  Message,
  ReasoningBlock,
  RefusalBlock,
  Sealed,
  TextBlock,
  ToolCallBlock,
  ToolResultBlock,
  Turn,
} from '../turn.ts';
import { responsesSurface } from './wire.ts';
import { settingSupport, writeSettings } from './write-settings.ts';
import { nameRule, upstreamNames, writeToolChoice, writeTools } from './write-tools.ts';

/** Prefixes are cached without marks; the newest models alone take any. */
const traits: TraitSupport = {
  citations: 'carried',
  'cache-mark': 'dropped',
  'image-detail': 'carried',
  filename: 'carried',
  'media-name': 'dropped',
  'call-seal': 'dropped',
};

export function supportOf(turn: Turn, target: TranslationTarget): Support {
  return { settings: settingSupport(turn, target), traits, thoughts: 'carried', schema: adviceSupport(turn) };
}

/** A request for an upstream of this protocol. Nothing of it is stored there, so that nothing has to be found again. */
export function writeTurn(turn: Turn, target: TranslationTarget): Result<WrittenTurn, Fault> {
  const writing = new TurnWriting(turn, target, nameRule);
  writing.noteLosses(responsesSurface, settingSupport(turn, target), traits);
  return writing.finish(jsonRequest(target.path, writeBody(writing)));
}

function writeBody(writing: TurnWriting): object {
  const { turn, target } = writing;
  const instructions = turn.system.map(({ text }) => text).join('\n\n');
  return {
    model: target.upstreamModel,
    ...(instructions === '' ? {} : { instructions }),
    input: writeInput(writing),
    ...toolMembers(writing),
    ...writeSettings(writing),
    store: false,
    // A model that does not think refuses to be asked for its thoughts.
    ...(target.reasoning ? { include: ['reasoning.encrypted_content'] } : {}),
    stream: turn.stream,
  };
}

function writeInput(writing: TurnWriting): readonly object[] {
  const writer = new ItemsWriter(writing);
  for (const message of writing.turn.messages) writer.write(message);
  return writer.items;
}

/** How tools are used is only said where there are any: else it is refused. */
function toolMembers(writing: TurnWriting): object {
  const { turn, naming } = writing;
  const { tools, toolChoice, settings } = turn;
  if (tools.length === 0) return {};
  const nameOf = upstreamNames(naming);
  const choice = toolChoice === null ? {} : { tool_choice: writeToolChoice(toolChoice, tools, nameOf) };
  const { parallelToolCalls } = settings;
  const parallel = parallelToolCalls === null ? {} : { parallel_tool_calls: parallelToolCalls };
  noteAdvice(writing);
  return { tools: writeTools(turn, nameOf), ...choice, ...parallel };
}

/** A strict tool whose schema is not enforced as it stands is one that is told of its schema. */
function noteAdvice(writing: TurnWriting): void {
  const { tools, surface } = writing.turn;
  const isAdvice = tools.some((tool) => {
    if (tool.kind === 'custom' || tool.strict !== true || tool.parameters === null) return false;
    return !enforce({ schema: tool.parameters, strict: true }, surface).strict;
  });
  if (isAdvice) writing.change('tools[].strict', 'asked for, but not enforced');
}

export const callIdRule: NameRule = { legal: /^[\x21-\x7e]$/, legalFirst: /^[\x21-\x7e]$/, lengthMax: 64 };

/** Whatever is wrong with a conversation, each call has its one output and each output its call: else it is refused. */
const noOutput = 'No output was returned for this call.';
const orphanNote = '[Output of a tool call that is not part of this conversation]';

const failedPart = { type: 'input_text', text: 'Error:' };

/** The items of an input, without ids: nothing in it is to be looked up at the upstream. */
class ItemsWriter {
  readonly #writing: TurnWriting;
  readonly #items: object[] = [];
  /** Calls that have no output yet, by their ids. */
  readonly #open = new Map<string, ToolCallBlock>();
  /** Ids for which there is an output later. */
  readonly #results: ReadonlySet<string>;

  constructor(writing: TurnWriting) {
    this.#writing = writing;
    this.#results = new Set(writing.turn.messages.flatMap(({ content }) => content.flatMap(resultId)));
  }

  get items(): readonly object[] {
    return this.#items;
  }

  write({ role, content, name }: Message): void {
    if (name !== null) this.#writing.drop('messages[].name');
    if (role === 'assistant') this.#writeAssistant(content);
    else this.#writeOther(role, content);
  }

  #writeOther(role: 'user' | 'system', content: readonly Block[]): void {
    const parts: object[] = [];
    for (const block of content) {
      if (block.kind === 'tool-result') this.#writeResult(block, parts);
      else if (isSpoken(block)) parts.push(...(this.#inputPart(block) ?? []));
    }
    if (parts.length > 0) this.#items.push({ type: 'message', role, content: parts });
  }

  #inputPart(block: TextBlock | MediaBlock | RefusalBlock): readonly object[] {
    const part = writeInputPart(block, this.#writing);
    return part === null ? [] : [part];
  }

  /** Writes the words of the model in one go. Reasoning that led to nothing is left out: it must have an item behind it. */
  #writeAssistant(content: readonly Block[]): void {
    const writing = this.#writing;
    const thoughts: object[] = [];
    for (const block of content) {
      if (block.kind === 'reasoning') {
        if (block.sealed?.origin === 'native') writing.drop(writing.surface.sealed);
        thoughts.push(...this.#reasoning(block.text, block.sealed));
        continue;
      }
      // Other protocols may hand state back with the call it led to.
      if (block.kind === 'tool-call') thoughts.push(...this.#reasoning('', block.sealed));
      const item = this.#assistantItem(block);
      if (item !== null) this.#items.push(...thoughts.splice(0), item);
    }
    this.#closeUnanswered(content);
  }

  #assistantItem(block: Exclude<Block, ReasoningBlock>): object | null {
    switch (block.kind) {
      case 'text':
      case 'refusal':
        return block.text === '' ? null : assistantMessage(block);
      case 'tool-call':
        return this.#call(block);
      case 'media':
        return this.#assistantMedia(block);
      case 'tool-result':
        return null;
      default:
        return unreachable(block);
    }
  }

  /** A picture the model made is shown to it again by the user: it can name one of its own by id alone. */
  #assistantMedia(block: MediaBlock): object | null {
    const part = writeInputPart(block, this.#writing);
    return part === null ? null : { type: 'message', role: 'user', content: [part] };
  }

  #call(block: ToolCallBlock): object {
    this.#open.set(block.id, block);
    const call_id = legalName(block.id, callIdRule);
    const { naming } = this.#writing;
    const name = block.namespace === null ? naming.sent(block) : block.name;
    const namespace = block.namespace === null ? {} : { namespace: block.namespace };
    return block.form === 'custom'
      ? { type: 'custom_tool_call', call_id, name, ...namespace, input: block.input }
      : { type: 'function_call', call_id, name, ...namespace, arguments: block.input || '{}' };
  }

  #reasoning(text: string, sealed: Sealed | null): readonly object[] {
    if (!mayReturn(sealed, this.#writing.target.origin)) return [];
    const summary = text === '' ? [] : [{ type: 'summary_text', text }];
    return [{ type: 'reasoning', summary, encrypted_content: sealed.data }];
  }

  #writeResult(block: ToolResultBlock, parts: object[]): void {
    const call = this.#open.get(block.callId);
    if (call === undefined) parts.push({ type: 'input_text', text: orphanNote }, ...this.#resultParts(block));
    else this.#items.push(outputItem(call, this.#output(block)));
    this.#open.delete(block.callId);
  }

  /** One text is sent as it is; anything else in parts. There is no flag for a failure, so the text says it. */
  #output(block: ToolResultBlock): string | readonly object[] {
    const isText = block.content.every(({ kind }) => kind === 'text');
    if (!isText) return [...(block.isError ? [failedPart] : []), ...this.#resultParts(block)];
    const text = block.content.map((part) => (part.kind === 'text' ? part.text : '')).join('\n');
    return block.isError && !/error/i.test(text.slice(0, 200)) ? `Error: ${text}` : text;
  }

  #resultParts({ content }: ToolResultBlock): readonly object[] {
    return content.flatMap((part) => this.#inputPart(part));
  }

  #closeUnanswered(content: readonly Block[]): void {
    for (const block of content) {
      if (block.kind !== 'tool-call' || this.#results.has(block.id)) continue;
      this.#items.push(outputItem(block, noOutput));
      this.#open.delete(block.id);
    }
  }
}

function isSpoken(block: Block): block is TextBlock | MediaBlock | RefusalBlock {
  return block.kind === 'media' || ((block.kind === 'text' || block.kind === 'refusal') && block.text !== '');
}

function resultId(block: Block): readonly string[] {
  return block.kind === 'tool-result' ? [block.callId] : [];
}

function assistantMessage(block: TextBlock | RefusalBlock): object {
  return { type: 'message', role: 'assistant', content: [writeOutputPart(block)] };
}

function outputItem({ id, form }: ToolCallBlock, output: string | readonly object[]): object {
  const type = form === 'custom' ? 'custom_tool_call_output' : 'function_call_output';
  return { type, call_id: legalName(id, callIdRule), output };
}

/** A piece of what somebody other than the model says. */
function writeInputPart(block: TextBlock | MediaBlock | RefusalBlock, writing: TurnWriting): object | null {
  switch (block.kind) {
    case 'text':
    case 'refusal':
      return { type: 'input_text', text: block.text };
    case 'media':
      return writeMedia(block, writing);
    default:
      return unreachable(block);
  }
}

/** A piece of what the model has said. */
function writeOutputPart(block: TextBlock | RefusalBlock): object {
  if (block.kind === 'refusal') return { type: 'refusal', refusal: block.text };
  return { type: 'output_text', text: block.text, annotations: writeCitations(block) };
}

/** Annotations for what names a page; where a citation does not say which words it is for, it is for all of them. */
export function writeCitations({
  text,
  citations,
}: Pick<TextBlock, 'text' | 'citations'>): readonly object[] {
  return citations.flatMap((citation) => writeCitation(citation, text.length) ?? []);
}

function writeCitation({ url, title, start, end }: Citation, length: number): object | null {
  if (url === null) return null;
  return { type: 'url_citation', url, title: title ?? '', start_index: start ?? 0, end_index: end ?? length };
}

function writeMedia(block: MediaBlock, writing: TurnWriting): object | null {
  switch (block.media) {
    case 'image':
      return writeImage(block, writing);
    case 'file':
      return writeFile(block, writing);
    case 'audio':
      writing.refuse(writing.surface.media.audio, 'send its text instead');
      return null;
    default:
      return unreachable(block.media);
  }
}

function writeImage(block: MediaBlock, writing: TurnWriting): object | null {
  const { source, mediaType } = block;
  const common = { type: 'input_image', detail: block.detail ?? 'auto' };
  switch (source.kind) {
    case 'url':
      return { ...common, image_url: source.url };
    case 'base64':
      return { ...common, image_url: dataUrl(mediaType ?? 'image/png', source.data) };
    case 'id':
      return writeFileId(common, source.id, block, writing);
    case 'text':
      return { type: 'input_text', text: source.text };
    default:
      return unreachable(source);
  }
}

function writeFile(block: MediaBlock, writing: TurnWriting): object | null {
  const { source } = block;
  const common = { type: 'input_file' };
  switch (source.kind) {
    case 'url':
      return { ...common, file_url: source.url };
    case 'base64': {
      const mediaType = block.mediaType ?? 'application/pdf';
      return {
        ...common,
        filename: block.filename ?? filenameOf(mediaType),
        file_data: dataUrl(mediaType, source.data),
      };
    }
    case 'id':
      return writeFileId(common, source.id, block, writing);
    case 'text':
      writing.change(writing.surface.media.file, 'sent as text');
      return { type: 'input_text', text: [block.filename, source.text].filter(Boolean).join('\n\n') };
    default:
      return unreachable(source);
  }
}

/** Data must have a name, and what kind of file it is is read from it. */
function filenameOf(mediaType: string): string {
  return mediaType === 'application/pdf' ? 'document.pdf' : `document.${mediaType.split(/[/+]/).at(-1)}`;
}

/** A file that a vendor has can be named to that vendor alone. */
function writeFileId(common: object, id: string, { media }: MediaBlock, writing: TurnWriting): object | null {
  if (writing.surface === responsesSurface) return { ...common, file_id: id };
  writing.refuse(writing.surface.media[media], 'send its content instead of an id');
  return null;
}
