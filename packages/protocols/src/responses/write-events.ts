import type { EventWriter, WriterContext } from '../codec.ts';
import { unreachable } from '../result.ts';
import { answerEvents } from '../translate/answer.ts';
import { AnswerWriter, type Start } from '../translate/answer-writer.ts';
import { writeOutputFormat } from '../translate/writing.ts';
import type { Citation, MediaBlock, Sealed, Turn } from '../turn.ts';
import type { Finish, OpenBlock, TurnAnswer, TurnEvent } from '../turn-event.ts';
import { totalInput, type Usage } from '../usage.ts';
import { listOf, recordOf, type WireRecord } from '../wire-values.ts';
import { carry } from './edits.ts';
import {
  CallItem,
  type Emit,
  ImageItem,
  ItemPlace,
  type ItemStatus,
  MessageItem,
  type MessageSaid,
  type OutputItem,
  ReasoningItem,
} from './output-items.ts';
import { blankResponse } from './wire.ts';
import { callerNames, writeToolChoice, writeTools } from './write-tools.ts';

/** Writes a response as it comes: typed events, numbered from zero without a gap. */
export class ResponsesEventWriter implements EventWriter {
  readonly #maker: ResponseMaker;
  #text = '';
  #sequence: number;

  /** `said`: a stream that it goes on with, within its text. */
  constructor(context: WriterContext, said: ResponseSaid | null = null) {
    this.#sequence = said?.sequence ?? 0;
    this.#maker = new ResponseMaker(context, (name, members) => this.#emit(name, members), said);
  }

  write(event: TurnEvent): string {
    this.#maker.write(event);
    return this.#taken();
  }

  end(ours: WireRecord = {}): string {
    const { status, response } = this.#maker.end();
    this.#emit(status, { response: { ...response, ...ours } });
    return this.#taken();
  }

  #emit(name: string, members: object): void {
    const type = `response.${name}`;
    const data = JSON.stringify({ type, sequence_number: this.#sequence++, ...members });
    this.#text += `event: ${type}\ndata: ${data}\n\n`;
  }

  #taken(): string {
    const text = this.#text;
    this.#text = '';
    return text;
  }
}

/** A stream as far as another has written it. */
export interface ResponseSaid {
  /** The response as it was told to begin. */
  readonly response: WireRecord;
  /** The number of the next event. */
  readonly sequence: number;
  /** All that are whole. */
  readonly items: readonly object[];
  /** The message that is not. */
  readonly messageId: string;
  readonly message: MessageSaid;
}

/** The beginning of an item's id; clients and the vendor tell items by it. */
type Prefix = 'msg' | 'rs' | 'fc' | 'ctc' | 'ig';

/**
 * Makes a response out of the events of an answer, and tells its own as they arise: so whole and streamed ones agree. An item
 * is closed when something else begins: texts that follow each other are parts of one message, and whether the last item was
 * cut off is known at the end only.
 */
class ResponseMaker extends AnswerWriter<void> {
  readonly #context: WriterContext;
  readonly #emit: Emit;
  readonly #items: object[] = [];
  #model: string;
  #item: OutputItem | null = null;
  #isStarted = false;
  readonly #said: ResponseSaid | null;

  constructor(context: WriterContext, emit: Emit, said: ResponseSaid | null = null) {
    super(undefined);
    this.#context = context;
    this.#emit = emit;
    this.#model = context.turn.model;
    this.#said = said;
    if (said === null) return;
    this.#isStarted = true;
    this.#items.push(...said.items);
    this.#item = new MessageItem(new ItemPlace(said.messageId, said.items.length, emit), said.message);
  }

  /** Closes the last item, and gives the response as it ended. */
  end(): ReturnType<typeof closedResponse> {
    this.#begin();
    this.#closeItem(isCutOff(this.finish) ? 'incomplete' : 'completed');
    const { status, response } = closedResponse(this.#context, this.#model, this.#items, this.finish);
    return {
      status,
      response: this.#said === null ? response : { ...this.#said.response, ...endOf(response) },
    };
  }

  protected start({ model }: Start): void {
    this.#model = model ?? this.#model;
    this.#begin();
  }

  protected open(block: OpenBlock): void {
    this.#begin();
    switch (block.kind) {
      case 'text':
      case 'refusal':
        return this.#message().openPart(block.kind);
      case 'reasoning':
        return this.#openItem('rs', (place) => new ReasoningItem(place));
      case 'tool-call':
        return this.#openItem(block.form === 'custom' ? 'ctc' : 'fc', (place) => new CallItem(place, block));
      case 'media':
        return this.#picture(block);
      default:
        return unreachable(block);
    }
  }

  protected addText(text: string): void {
    this.#item?.addText(text);
  }

  protected addCitation(citation: Citation): void {
    if (this.#item instanceof MessageItem) this.#item.cite(citation);
  }

  protected addSeal(sealed: Sealed): void {
    this.#item?.seal(sealed);
  }

  protected close(): void {
    this.#item?.stop();
  }

  #begin(): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    const response = openResponse(this.#context, this.#model);
    this.#emit('created', { response });
    this.#emit('in_progress', { response });
  }

  #closeItem(status: ItemStatus): void {
    const item = this.#item;
    if (item === null) return;
    this.#item = null;
    this.#items.push(item.close(status));
    if (item instanceof CallItem && item.sealed !== null) this.#carrySealOf(item.sealed);
  }

  /** State that came with a call follows it in an item of its own. */
  #carrySealOf(sealed: Sealed): void {
    const carrier = new ReasoningItem(this.#place('rs'));
    carrier.encrypted = carry(sealed, 'call');
    this.#items.push(carrier.close());
  }

  #openItem(prefix: Prefix, make: (place: ItemPlace) => OutputItem): void {
    this.#closeItem('completed');
    this.#item = make(this.#place(prefix));
  }

  #message(): MessageItem {
    if (this.#item instanceof MessageItem) return this.#item;
    this.#closeItem('completed');
    const message = new MessageItem(this.#place('msg'));
    this.#item = message;
    return message;
  }

  /** This protocol has pictures in its answers, and neither sounds nor files. */
  #picture(block: MediaBlock): void {
    if (block.media === 'image') this.#openItem('ig', (place) => new ImageItem(place, block));
    else this.#closeItem('completed');
  }

  #place(prefix: Prefix): ItemPlace {
    const index = this.#items.length;
    return new ItemPlace(`${prefix}_${this.#context.traceId}_${index}`, index, this.#emit);
  }
}

/** How a response stands: open, or ended in one way or another. */
type Standing =
  | { readonly status: 'in_progress' | 'completed' }
  | { readonly status: 'incomplete'; readonly cause: 'max_output_tokens' | 'content_filter' }
  | { readonly status: 'failed'; readonly message: string };

/** The response while it is being made. */
function openResponse(context: WriterContext, model: string): object {
  return responseObject(context, model, { status: 'in_progress' });
}

/** The response at its end, with all its items. */
function closedResponse(
  context: WriterContext,
  model: string,
  items: readonly object[],
  finish: Finish,
): { readonly status: string; readonly response: WireRecord } {
  const standing = standingOf(finish, items);
  const response = {
    ...responseObject(context, model, standing),
    completed_at: standing.status === 'completed' ? context.createdS : null,
    output: items,
    usage: writeUsage(finish.usage),
  };
  return { status: standing.status, response };
}

/** The members of a response that its end decides. */
function endOf({ status, error, incomplete_details, completed_at, output, usage }: WireRecord): WireRecord {
  return { status, error, incomplete_details, completed_at, output, usage };
}

/** A refusal in words is in the items as one; a vendor that stopped the answer instead has filtered it. */
function standingOf({ reason }: Finish, items: readonly object[]): Standing {
  switch (reason) {
    case 'stop':
    case 'tool-calls':
    case 'unknown':
      return { status: 'completed' };
    case 'refusal':
      return items.some(refuses)
        ? { status: 'completed' }
        : { status: 'incomplete', cause: 'content_filter' };
    case 'length':
      return { status: 'incomplete', cause: 'max_output_tokens' };
    case 'content-filter':
      return { status: 'incomplete', cause: 'content_filter' };
    case 'error':
      return { status: 'failed', message: 'The model did not give a usable answer.' };
    default:
      return unreachable(reason);
  }
}

function refuses(item: object): boolean {
  const { content } = recordOf(item);
  return listOf(content).some((part) => recordOf(part)['type'] === 'refusal');
}

/** An answer that was cut off ends with an item that was. */
function isCutOff({ reason }: Finish): boolean {
  return reason === 'length' || reason === 'content-filter';
}

/** Repeats what the request set, but for its instructions, which may be long and are no longer told from other words of the system's. */
function responseObject(
  { turn, traceId, createdS }: WriterContext,
  model: string,
  standing: Standing,
): object {
  const { settings } = turn;
  const isFailed = standing.status === 'failed';
  return {
    ...blankResponse,
    id: `resp_${traceId}`,
    created_at: createdS,
    status: standing.status,
    error: isFailed ? { code: 'server_error', message: standing.message } : null,
    frequency_penalty: settings.frequencyPenalty ?? 0,
    incomplete_details: standing.status === 'incomplete' ? { reason: standing.cause } : null,
    max_output_tokens: settings.maxOutputTokens,
    metadata: settings.metadata ?? {},
    model,
    parallel_tool_calls: settings.parallelToolCalls ?? true,
    presence_penalty: settings.presencePenalty ?? 0,
    prompt_cache_key: settings.promptCacheKey,
    reasoning: reasoningOf(turn),
    safety_identifier: settings.user,
    temperature: settings.temperature ?? 1,
    text: textOf(turn),
    tool_choice:
      turn.toolChoice === null ? 'auto' : writeToolChoice(turn.toolChoice, turn.tools, callerNames),
    tools: writeTools(turn, callerNames),
    top_logprobs: settings.logprobs ?? 0,
    top_p: settings.topP ?? 1,
  };
}

function reasoningOf({ settings: { reasoning } }: Turn): object {
  return { effort: reasoning?.effort ?? null, summary: reasoning?.shown === true ? 'auto' : null };
}

function textOf({ settings: { outputFormat, verbosity } }: Turn): object {
  const format = writeOutputFormat(
    outputFormat ?? { kind: 'text' },
    ({ name, description, schema, strict }) => ({
      name: name ?? 'response',
      description,
      schema,
      strict: strict ?? false,
    }),
  );
  return verbosity === null ? { format } : { format, verbosity };
}

const encoder = new TextEncoder();

/** A whole response, as its stream would have added up to. */
export function writeAnswer(answer: TurnAnswer, context: WriterContext): Uint8Array {
  const maker = new ResponseMaker(context, () => {
    // Nobody listens to the events of an answer that is sent as a whole.
  });
  for (const event of answerEvents(answer)) maker.write(event);
  return encoder.encode(JSON.stringify(maker.end().response));
}

/** The usage object: its input includes what a cache read and wrote, its output the reasoning. Both details are always there. */
function writeUsage(usage: Usage | null): object | null {
  if (usage === null) return null;
  const input = totalInput(usage);
  const output = usage.output + usage.outputAudio + usage.outputImage;
  return {
    input_tokens: input,
    input_tokens_details: {
      cached_tokens: usage.inputCacheRead,
      cache_write_tokens: usage.inputCacheWrite5m + usage.inputCacheWrite1h,
    },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: usage.outputReasoning },
    total_tokens: input + output,
  };
}
