import type { EventWriter, WriterContext } from '../codec.ts';
import { unreachable } from '../result.ts';
import { AnswerWriter, type Start } from '../translate/answer-writer.ts';
import { dataUrl } from '../translate/media.ts';
import { legalName } from '../translate/tools.ts';
import type {
  Block,
  Citation,
  MediaBlock,
  ReasoningBlock,
  Sealed,
  TextBlock,
  ToolCallBlock,
} from '../turn.ts';
import type { OpenBlock, TurnAnswer } from '../turn-event.ts';
import { totalInput, totalOutput, type Usage } from '../usage.ts';
import { listOf, type WireRecord } from '../wire-values.ts';
import { expectsFunctionCall } from './read-settings.ts';
import { writeCallSeal, writeDetail } from './thoughts.ts';
import { callIdRule, finishWordOf, writeCitation } from './wire.ts';

type OpenCall = Extract<OpenBlock, { kind: 'tool-call' }>;

export class ChatEventWriter extends AnswerWriter<string> implements EventWriter {
  readonly #context: WriterContext;
  readonly #choice: number;
  /** Before there were tools, an answer held one call. */
  readonly #isOlder: boolean;
  /** The beginning of every chunk, up to its choices. */
  #opening = '';
  #hasRole = false;
  #block: OpenBlock | null = null;
  /** The text of the open block of thoughts: a seal is for all of it. */
  #thought = '';
  #seal: Sealed | null = null;
  /** Characters of content in the blocks before, and in the one that is open. */
  #offset = 0;
  #length = 0;
  #calls = 0;
  #details = 0;
  #media = 0;
  #hasRefusal = false;

  /** `said`: the members of a stream that it goes on with, within its text. */
  constructor(context: WriterContext, said: WireRecord | null = null, choice = 0) {
    super('');
    this.#context = context;
    this.#choice = choice;
    this.#isOlder = expectsFunctionCall(context.turn);
    this.#identify(null, said ?? {});
    if (said === null) return;
    this.#hasRole = true;
    this.#block = { kind: 'text' };
  }

  end(ours: WireRecord = {}, isLast = true): string {
    const kind = { hasCalls: this.#calls > 0, hasRefusal: this.#hasRefusal };
    const word = finishWordOf(this.finish.reason, kind);
    const finish = word === 'tool_calls' && this.#isOlder ? 'function_call' : word;
    const role = this.#role('');
    const before = this.#opening;
    if (Object.keys(ours).length > 0)
      this.#opening = `data: ${JSON.stringify(ours).slice(0, -1)},${before.slice(7)}`;
    const last = this.#chunk({}, finish);
    this.#opening = before;
    return role + last + (isLast ? `${this.#usageChunk()}data: [DONE]\n\n` : '');
  }

  #identify(model: string | null, said: WireRecord = {}): void {
    const identity = { ...identityOf('chat.completion.chunk', model, this.#context), ...said };
    this.#opening = `data: ${JSON.stringify(identity).slice(0, -1)},"choices":[`;
  }

  /** The role comes once, with the first block: the content beside it is null where a call comes first. */
  #role(content: '' | null): string {
    if (this.#hasRole) return '';
    this.#hasRole = true;
    return this.#chunk({ role: 'assistant', content, refusal: null });
  }

  #chunk(delta: WireRecord, finish: string | null = null): string {
    return this.#chunkOf(JSON.stringify(delta), finish);
  }

  /** `delta` is JSON. */
  #chunkOf(delta: string, finish: string | null = null): string {
    const reason = finish === null ? 'null' : `"${finish}"`;
    const usage = this.#context.wantsUsageFrame ? ',"usage":null' : '';
    const choice = `{"index":${this.#choice},"delta":${delta},"logprobs":null,"finish_reason":${reason}}`;
    return `${this.#opening}${choice}]${usage}}\n\n`;
  }

  #usageChunk(): string {
    const { usage } = this.finish;
    if (usage === null || !this.#context.wantsUsageFrame) return '';
    return `${this.#opening}],"usage":${JSON.stringify(writeUsage(usage))}}\n\n`;
  }

  protected start({ model }: Start): string {
    this.#identify(model);
    return '';
  }

  protected open(block: OpenBlock): string {
    this.#block = block;
    const role = this.#role(block.kind === 'tool-call' ? null : '');
    switch (block.kind) {
      case 'text':
      case 'reasoning':
      case 'refusal':
        return role;
      case 'tool-call':
        return role + this.#openCall(block);
      case 'media':
        return role + this.#writeMedia(block);
      default:
        return unreachable(block);
    }
  }

  #openCall({ id, name, form }: OpenCall): string {
    const index = this.#calls++;
    if (!this.#isOlder) return this.#chunk({ tool_calls: [{ index, ...openCall(id, name, form, '') }] });
    return index === 0 ? this.#chunk({ function_call: { name, arguments: '' } }) : '';
  }

  #writeMedia(block: MediaBlock): string {
    return this.#chunk(writeMedia(block, this.#media++, this.#context));
  }

  protected addCitation(citation: Citation): string {
    const annotation = writeCitation(citation, this.#offset, this.#length);
    return annotation === null ? '' : this.#chunk({ annotations: [annotation] });
  }

  protected addSeal(sealed: Sealed): string {
    this.#seal = sealed;
    return '';
  }

  protected addText(text: string): string {
    const block = this.#block;
    switch (block?.kind) {
      case 'text':
        this.#length += text.length;
        // Nearly all of a stream: text alone is written faster than the object it is in.
        return this.#chunkOf(`{"content":${JSON.stringify(text)}}`);
      case 'reasoning':
        this.#thought += text;
        return this.#chunkOf(`{"reasoning_content":${JSON.stringify(text)}}`);
      case 'refusal':
        this.#hasRefusal = true;
        return this.#chunk({ refusal: text });
      case 'tool-call':
        return this.#addInput(block, text);
      case 'media':
      case undefined:
        return '';
      default:
        return unreachable(block);
    }
  }

  #addInput({ form }: OpenCall, text: string): string {
    const index = this.#calls - 1;
    if (this.#isOlder) return index === 0 ? this.#chunk({ function_call: { arguments: text } }) : '';
    return this.#chunk({ tool_calls: [{ index, ...inputPart(form, text) }] });
  }

  protected close(): string {
    const seal = this.#seal;
    const text = seal === null ? '' : this.#writeSeal(seal);
    this.#seal = null;
    this.#thought = '';
    this.#offset += this.#length;
    this.#length = 0;
    this.#block = null;
    return text;
  }

  #writeSeal(sealed: Sealed): string {
    if (this.#block?.kind === 'reasoning') {
      const detail = writeDetail(this.#thought, sealed, this.#details++);
      return this.#chunk({ reasoning_details: [detail] });
    }
    if (this.#block?.kind !== 'tool-call' || this.#isOlder) return '';
    // Clients that check every chunk do not know a call without its function.
    const part = inputPart(this.#block.form, '');
    return this.#chunk({ tool_calls: [{ index: this.#calls - 1, ...part, ...writeCallSeal(sealed) }] });
  }
}

function inputPart(form: OpenCall['form'], text: string): WireRecord {
  return form === 'custom' ? { custom: { input: text } } : { function: { arguments: text } };
}

const encoder = new TextEncoder();

export function writeAnswer(answer: TurnAnswer, context: WriterContext): Uint8Array {
  const { model, finish, others = [] } = answer;
  const body = {
    ...identityOf('chat.completion', model, context),
    choices: [answer, ...others].map((each, index) => writeChoice(each, index, context)),
    usage: finish.usage === null ? undefined : writeUsage(finish.usage),
  };
  return encoder.encode(JSON.stringify(body));
}

function writeChoice({ content, finish }: TurnAnswer, index: number, context: WriterContext): WireRecord {
  const message = new MessageDraft(context);
  for (const block of content) message.add(block);
  return {
    index,
    message: message.wire(),
    logprobs: null,
    finish_reason: message.finishWord(finishWordOf(finish.reason, message)),
  };
}

/** The one message of an answer: its blocks go where the protocol has a member for their kind. */
class MessageDraft {
  readonly #context: WriterContext;
  #content = '';
  #refusal = '';
  #reasoning = '';
  #media: WireRecord = {};
  #mediaCount = 0;
  readonly #annotations: WireRecord[] = [];
  readonly #details: WireRecord[] = [];
  readonly #images: unknown[] = [];
  readonly #calls: ToolCallBlock[] = [];

  constructor(context: WriterContext) {
    this.#context = context;
  }

  get hasCalls(): boolean {
    return this.#calls.length > 0;
  }

  get hasRefusal(): boolean {
    return this.#refusal !== '';
  }

  add(block: Block): void {
    switch (block.kind) {
      case 'text':
        return this.#addText(block);
      case 'reasoning':
        return this.#addReasoning(block);
      case 'refusal':
        this.#refusal += block.text;
        return;
      case 'media':
        return this.#addMedia(block);
      case 'tool-call':
        this.#calls.push(block);
        return;
      case 'tool-result':
        return;
      default:
        unreachable(block);
    }
  }

  finishWord(word: string): string {
    return word === 'tool_calls' && this.#isOlder ? 'function_call' : word;
  }

  wire(): WireRecord {
    const hasText = this.#content !== '' || (!this.hasCalls && !this.hasRefusal);
    return {
      role: 'assistant',
      content: hasText ? this.#content : null,
      refusal: this.hasRefusal ? this.#refusal : null,
      annotations: this.#annotations,
      reasoning_content: this.#reasoning === '' ? undefined : this.#reasoning,
      reasoning_details: this.#details.length === 0 ? undefined : this.#details,
      images: this.#images.length === 0 ? undefined : this.#images,
      ...this.#media,
      ...this.#callMembers(),
    };
  }

  get #isOlder(): boolean {
    return expectsFunctionCall(this.#context.turn);
  }

  #addText({ text, citations }: TextBlock): void {
    for (const citation of citations) {
      const annotation = writeCitation(citation, this.#content.length, text.length);
      if (annotation !== null) this.#annotations.push(annotation);
    }
    this.#content += text;
  }

  #addReasoning({ text, sealed }: ReasoningBlock): void {
    this.#reasoning += text;
    if (sealed !== null) this.#details.push(writeDetail(text, sealed, this.#details.length));
  }

  #addMedia(block: MediaBlock): void {
    const { images, ...rest } = writeMedia(block, this.#mediaCount++, this.#context);
    for (const image of listOf(images)) this.#images.push(image);
    this.#media = { ...this.#media, ...rest };
  }

  /** Before there were tools, an answer held one call. */
  #callMembers(): WireRecord {
    const [first] = this.#calls;
    if (first === undefined) return {};
    if (this.#isOlder) return { function_call: { name: first.name, arguments: first.input } };
    return { tool_calls: this.#calls.map(writeCall) };
  }
}

function writeCall({ id, name, form, input, sealed }: ToolCallBlock): WireRecord {
  return { ...openCall(id, name, form, input), ...(sealed === null ? {} : writeCallSeal(sealed)) };
}

/** The beginning of every answer, and of every chunk of it. */
function identityOf(object: string, model: string | null, context: WriterContext) {
  return {
    id: `chatcmpl-${context.traceId}`,
    object,
    created: context.createdS,
    model: model ?? context.turn.model,
  };
}

/** A call as it begins, without what its deltas add. */
function openCall(ownId: string, name: string, form: 'function' | 'custom', input: string): WireRecord {
  // It comes back as it is, also where servers are told it that refuse longer ones.
  const id = legalName(ownId, callIdRule);
  return form === 'custom'
    ? { id, type: 'custom', custom: { name, input } }
    : { id, type: 'function', function: { name, arguments: input } };
}

/** Images stand beside the content, as servers of the protocol that make any put them; sound has a member of its own. */
function writeMedia(media: MediaBlock, index: number, { traceId, createdS }: WriterContext): WireRecord {
  const { source, mediaType } = media;
  if (media.media === 'image' && source.kind !== 'text' && source.kind !== 'id') {
    const url = source.kind === 'url' ? source.url : dataUrl(mediaType ?? 'image/png', source.data);
    return { images: [{ type: 'image_url', image_url: { url }, index }] };
  }
  if (media.media !== 'audio' || source.kind !== 'base64') return {};
  // It is not kept anywhere, so it cannot be named later.
  return {
    audio: { id: `audio_${traceId}_${index}`, data: source.data, transcript: '', expires_at: createdS },
  };
}

/** The usage object with every member the protocol has, zeros included. */
function writeUsage(usage: Usage): WireRecord {
  const prompt = totalInput(usage);
  const completion = totalOutput(usage);
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: {
      cached_tokens: usage.inputCacheRead,
      cache_write_tokens: usage.inputCacheWrite5m + usage.inputCacheWrite1h,
      audio_tokens: usage.inputAudio,
    },
    completion_tokens_details: {
      reasoning_tokens: usage.outputReasoning,
      audio_tokens: usage.outputAudio,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}
