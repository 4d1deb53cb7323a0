import type { EventWriter, WriterContext } from '../codec.ts';
import { unreachable } from '../result.ts';
import { answerEvents } from '../translate/answer.ts';
import type { MediaBlock, OutputFormat, Turn } from '../turn.ts';
import type { BlockDelta, Finish, OpenBlock, TurnAnswer, TurnEvent } from '../turn-event.ts';
import { totalInput, type Usage } from '../usage.ts';
import { listOf, recordOf } from '../wire-values.ts';
import { carry } from './edits.ts';
import {
  CallItem,
  type Emit,
  ImageItem,
  ItemPlace,
  type ItemStatus,
  MessageItem,
  type OutputItem,
  ReasoningItem,
} from './output-items.ts';
import { callerNames, writeToolChoice, writeTools } from './write-tools.ts';

/** Writes a response as it comes: typed events, numbered from zero without a gap. */
export class ResponsesEventWriter implements EventWriter {
  readonly #maker: ResponseMaker;
  #text = '';
  #sequence = 0;

  constructor(context: WriterContext) {
    this.#maker = new ResponseMaker(context, (name, members) => this.#emit(name, members));
  }

  write(event: TurnEvent): string {
    this.#maker.take(event);
    return this.#taken();
  }

  end(): string {
    const { status, response } = this.#maker.finish();
    this.#emit(status, { response });
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

/** The beginning of an item's id; clients and the vendor tell items by it. */
type Prefix = 'msg' | 'rs' | 'fc' | 'ctc' | 'ig';

/**
 * Makes the items of a response out of blocks. An item is closed when something else begins: texts that follow each other
 * are parts of one message, and whether the last item was cut off is known at the end only.
 */
export class OutputBuilder {
  readonly items: object[] = [];
  readonly #traceId: string;
  readonly #emit: Emit;
  #open: OutputItem | null = null;

  constructor(traceId: string, emit: Emit) {
    this.#traceId = traceId;
    this.#emit = emit;
  }

  start(block: OpenBlock): void {
    switch (block.kind) {
      case 'text':
      case 'refusal':
        return this.#message().openPart(block.kind);
      case 'reasoning':
        return this.#begin('rs', (place) => new ReasoningItem(place));
      case 'tool-call':
        return this.#begin(block.form === 'custom' ? 'ctc' : 'fc', (place) => new CallItem(place, block));
      case 'media':
        return this.#picture(block);
      default:
        return unreachable(block);
    }
  }

  add(delta: BlockDelta): void {
    this.#open?.add(delta);
  }

  stop(): void {
    this.#open?.stop();
  }

  /** Closes the item at hand. */
  close(status: ItemStatus): void {
    const item = this.#open;
    if (item === null) return;
    this.#open = null;
    this.items.push(item.close(status));
    if (item instanceof CallItem && item.sealed !== null) this.#carrySealOf(item.sealed);
  }

  /** State that came with a call follows it in an item of its own. */
  #carrySealOf(sealed: NonNullable<CallItem['sealed']>): void {
    const carrier = new ReasoningItem(this.#place('rs'));
    carrier.seal(carry(sealed, 'call'));
    this.items.push(carrier.close());
  }

  #begin(prefix: Prefix, make: (place: ItemPlace) => OutputItem): void {
    this.close('completed');
    this.#open = make(this.#place(prefix));
  }

  #message(): MessageItem {
    if (this.#open instanceof MessageItem) return this.#open;
    this.close('completed');
    const message = new MessageItem(this.#place('msg'));
    this.#open = message;
    return message;
  }

  /** This protocol has pictures in its answers, and neither sounds nor files. */
  #picture(block: MediaBlock): void {
    if (block.media === 'image') this.#begin('ig', (place) => new ImageItem(place, block));
    else this.close('completed');
  }

  #place(prefix: Prefix): ItemPlace {
    const index = this.items.length;
    return new ItemPlace(`${prefix}_${this.#traceId}_${index}`, index, this.#emit);
  }
}

const noFinish: Finish = { reason: 'unknown', rawReason: null, stopSequence: null, usage: null };

/** Makes a response out of the events of an answer, and tells its own as they arise: so whole and streamed ones agree. */
export class ResponseMaker {
  readonly #context: WriterContext;
  readonly #emit: Emit;
  readonly #output: OutputBuilder;
  #model: string;
  #finish = noFinish;
  #isStarted = false;

  constructor(context: WriterContext, emit: Emit) {
    this.#context = context;
    this.#emit = emit;
    this.#model = context.turn.model;
    this.#output = new OutputBuilder(context.traceId, emit);
  }

  take(event: TurnEvent): void {
    switch (event.kind) {
      case 'start':
        this.#model = event.model ?? this.#model;
        return this.#start();
      case 'block-start':
        this.#start();
        return this.#output.start(event.block);
      case 'delta':
        return this.#output.add(event.delta);
      case 'block-stop':
        return this.#output.stop();
      case 'finish': {
        const { kind: _, ...finish } = event;
        this.#finish = finish;
        return undefined;
      }
      default:
        return unreachable(event);
    }
  }

  /** The last item, and the response as it ended. */
  finish(): ReturnType<typeof closedResponse> {
    this.#start();
    this.#output.close(isCutOff(this.#finish) ? 'incomplete' : 'completed');
    return closedResponse(this.#context, this.#model, this.#output.items, this.#finish);
  }

  #start(): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    const response = openResponse(this.#context, this.#model);
    this.#emit('created', { response });
    this.#emit('in_progress', { response });
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
export function closedResponse(
  context: WriterContext,
  model: string,
  items: readonly object[],
  finish: Finish,
): { readonly status: string; readonly response: object } {
  const standing = standingOf(finish, items);
  const response = {
    ...responseObject(context, model, standing),
    completed_at: standing.status === 'completed' ? context.createdS : null,
    output: items,
    usage: writeUsage(finish.usage),
  };
  return { status: standing.status, response };
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

/** True of an answer that was cut off: then its last item was. */
function isCutOff({ reason }: Finish): boolean {
  return reason === 'length' || reason === 'content-filter';
}

/**
 * Every member the published schemas require, nulls included. What the request set is repeated; its instructions are not,
 * which may be long and are no longer told from other words of the system's. Nothing is stored.
 */
function responseObject({ turn, traceId, createdS }: WriterContext, model: string, standing: Standing) {
  const { settings } = turn;
  return {
    id: `resp_${traceId}`,
    object: 'response',
    created_at: createdS,
    status: standing.status,
    background: false,
    completed_at: null as number | null, // Set once it is known; the literal alone would be of type null.
    error: standing.status === 'failed' ? { code: 'server_error', message: standing.message } : null,
    frequency_penalty: settings.frequencyPenalty ?? 0,
    incomplete_details: standing.status === 'incomplete' ? { reason: standing.cause } : null,
    instructions: null,
    max_output_tokens: settings.maxOutputTokens,
    max_tool_calls: null,
    metadata: settings.metadata ?? {},
    model,
    output: [],
    parallel_tool_calls: settings.parallelToolCalls ?? true,
    presence_penalty: settings.presencePenalty ?? 0,
    previous_response_id: null,
    prompt_cache_key: settings.promptCacheKey,
    reasoning: reasoningOf(turn),
    safety_identifier: settings.user,
    service_tier: 'default',
    store: false,
    temperature: settings.temperature ?? 1,
    text: textOf(turn),
    tool_choice:
      turn.toolChoice === null ? 'auto' : writeToolChoice(turn.toolChoice, turn.tools, callerNames),
    tools: writeTools(turn, callerNames),
    top_logprobs: settings.logprobs ?? 0,
    top_p: settings.topP ?? 1,
    truncation: 'disabled',
    usage: null,
  };
}

function reasoningOf({ settings: { reasoning } }: Turn): object {
  return { effort: reasoning?.effort ?? null, summary: reasoning?.shown === true ? 'auto' : null };
}

function textOf({ settings: { outputFormat, verbosity } }: Turn): object {
  const format = outputFormat === null ? { type: 'text' } : formatOf(outputFormat);
  return verbosity === null ? { format } : { format, verbosity };
}

function formatOf(format: OutputFormat): object {
  switch (format.kind) {
    case 'text':
      return { type: 'text' };
    case 'json':
      return { type: 'json_object' };
    case 'json-schema': {
      const { name, description, schema, strict } = format;
      return { type: 'json_schema', name: name ?? 'response', description, schema, strict: strict ?? false };
    }
    default:
      return unreachable(format);
  }
}

const encoder = new TextEncoder();

/** A whole response, as its stream would have added up to. */
export function writeAnswer(answer: TurnAnswer, context: WriterContext): Uint8Array {
  const maker = new ResponseMaker(context, () => {
    // Nobody listens to the events of an answer that is sent as a whole.
  });
  for (const event of answerEvents(answer)) maker.take(event);
  return encoder.encode(JSON.stringify(maker.finish().response));
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
