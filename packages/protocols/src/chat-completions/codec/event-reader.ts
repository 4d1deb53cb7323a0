import { readSseEvent } from '../../bytes/sse.ts';
import type { EventReader, ReaderContext } from '../../codec.ts';
import { parseJson } from '../../refusal.ts';
import { BlockSequencer } from '../../translate/block-sequencer.ts';
import { collectAnswer } from '../../translate/collect-answer.ts';
import { readMediaUrl } from '../../translate/data-url.ts';
import type { TurnAnswer, TurnEvent } from '../../turn-event.ts';
import type { Usage } from '../../usage.ts';
import { isRecord, listOf, numberOf, recordOf, stringOf, type WireRecord } from '../../wire-values.ts';
import { readUsage } from '../meter.ts';
import { CallReader } from './call-reader.ts';
import { readCitation } from './citations.ts';
import { finishReasonOf } from './finish-words.ts';
import { readThinkingPart } from './read-parts.ts';
import { ThoughtReader } from './thought-reader.ts';

/** Reads the first choice of an answer, chunk by chunk; the others were not asked for. */
export class ChatEventReader implements EventReader {
  readonly #context: ReaderContext;
  readonly #blocks = new BlockSequencer<string | number>();
  readonly #calls: CallReader;
  readonly #thoughts: ThoughtReader;
  #answerId: string | null = null;
  #model: string | null = null;
  #isStarted = false;
  #hasRefusal = false;
  #rawReason: string | null = null;
  #usage: Usage | null = null;
  #images = 0;

  constructor(context: ReaderContext) {
    this.#context = context;
    this.#calls = new CallReader(context, this.#blocks);
    this.#thoughts = new ThoughtReader(context, this.#blocks);
  }

  read(frame: Uint8Array): readonly TurnEvent[] {
    const chunk = readChunk(frame);
    return chunk === null ? [] : this.takeChunk(chunk);
  }

  /** A chunk, or a whole answer as if it were the only one. */
  takeChunk(chunk: WireRecord): readonly TurnEvent[] {
    this.#answerId ??= stringOf(chunk['id']) || null;
    this.#model ??= stringOf(chunk['model']) || null;
    this.#takeUsage(chunk['usage']);
    this.#takeUsage(recordOf(chunk['x_groq'])['usage']);
    const events: TurnEvent[] = [];
    for (const value of listOf(chunk['choices'])) {
      const choice = recordOf(value);
      if ((numberOf(choice['index']) ?? 0) !== 0) continue;
      this.#start(events);
      this.#takeChoice(choice);
    }
    return [...events, ...this.#blocks.take()];
  }

  end(): readonly TurnEvent[] {
    const events: TurnEvent[] = [];
    this.#start(events);
    this.#closeSpeech();
    this.#calls.end();
    this.#blocks.closeAll();
    const kind = { hasCalls: this.#calls.hasCalls, hasRefusal: this.#hasRefusal };
    return [
      ...events,
      ...this.#blocks.take(),
      {
        kind: 'finish',
        reason: finishReasonOf(this.#rawReason, kind),
        rawReason: this.#rawReason,
        stopSequence: null,
        usage: this.#usage,
      },
    ];
  }

  #start(events: TurnEvent[]): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    events.push({ kind: 'start', answerId: this.#answerId, model: this.#model, usage: null });
  }

  /** Cumulative where it is repeated: the last one counts. */
  #takeUsage(wire: unknown): void {
    this.#usage = readUsage(wire, this.#context.dialect) ?? this.#usage;
  }

  #takeChoice(choice: WireRecord): void {
    this.#takeUsage(choice['usage']);
    this.#rawReason = stringOf(choice['finish_reason']) || this.#rawReason;
    const delta = recordOf(choice['delta'] ?? choice['message']);
    if (this.#thoughts.isIn(delta)) {
      this.#speakAs('reasoning');
      this.#thoughts.take(delta);
    }
    this.#takeContent(delta['content']);
    this.#say('text', stringOf(recordOf(delta['audio'])['transcript']) ?? '');
    this.#takeRefusal(stringOf(delta['refusal']) ?? '');
    this.#takeAnnotations(delta['annotations']);
    if (hasCalls(delta)) this.#closeSpeech();
    this.#calls.take(delta);
    for (const image of listOf(delta['images'])) this.#takeImage(recordOf(image));
  }

  #takeContent(content: unknown): void {
    if (typeof content === 'string') this.#say('text', content);
    for (const value of listOf(content)) {
      const part = recordOf(value);
      if (part['type'] === 'thinking') this.#takeThinking(part);
      else this.#say('text', stringOf(part['text']) ?? '');
    }
  }

  #takeThinking(part: WireRecord): void {
    for (const { text } of readThinkingPart(part)) {
      this.#speakAs('reasoning');
      this.#thoughts.add(text, 'thinking');
    }
  }

  #takeRefusal(text: string): void {
    this.#hasRefusal ||= text !== '';
    this.#say('refusal', text);
  }

  #say(kind: 'text' | 'refusal', text: string): void {
    if (text === '') return;
    this.#speakAs(kind);
    this.#blocks.add(kind, { kind: 'text', text });
  }

  /** What is said in words is of one kind at a time: another one ends it. */
  #speakAs(kind: 'text' | 'reasoning' | 'refusal'): void {
    if (this.#blocks.has(kind)) return;
    this.#closeSpeech();
    this.#blocks.open(kind, { kind });
  }

  #closeSpeech(): void {
    this.#thoughts.close();
    this.#blocks.close('text');
    this.#blocks.close('refusal');
  }

  #takeAnnotations(annotations: unknown): void {
    for (const annotation of listOf(annotations)) {
      const citation = readCitation(recordOf(annotation));
      if (citation !== null) this.#blocks.add('text', { kind: 'citation', citation });
    }
  }

  /** Images stand beside the content where servers make any. */
  #takeImage(image: WireRecord): void {
    const url = stringOf(recordOf(image['image_url'])['url']);
    const media = url === null ? null : readMediaUrl(url);
    if (media === null) return;
    this.#closeSpeech();
    const key = `image ${this.#images++}`;
    const rest = { filename: null, detail: null, cacheTtl: null };
    this.#blocks.open(key, { kind: 'media', media: 'image', ...media, ...rest });
    this.#blocks.close(key);
  }
}

export function readAnswer(body: Uint8Array, context: ReaderContext): TurnAnswer {
  const reader = new ChatEventReader(context);
  const events = reader.takeChunk(recordOf(parseJson(decoder.decode(body))));
  return collectAnswer([...events, ...reader.end()]);
}

function hasCalls(delta: WireRecord): boolean {
  return listOf(delta['tool_calls']).length > 0 || isRecord(delta['function_call']);
}

const decoder = new TextDecoder();

/** The chunk in a frame; null for comments, the end and what is no chunk. */
function readChunk(frame: Uint8Array): WireRecord | null {
  const text = decoder.decode(frame);
  const usual = text.startsWith('data:') ? parseJson(text.slice('data:'.length)) : undefined;
  const chunk = usual === undefined ? parseJson(readSseEvent(frame).data ?? '') : usual;
  return isRecord(chunk) ? chunk : null;
}
