import type { EventWriter, WriterContext } from '../codec.ts';
import { unreachable } from '../result.ts';
import { answerEvents } from '../translate/answer.ts';
import { AnswerWriter, type Start } from '../translate/answer-writer.ts';
import { parseObject } from '../translate/tools.ts';
import type { Citation, MediaBlock, Sealed } from '../turn.ts';
import type { OpenBlock, TurnAnswer, TurnEvent } from '../turn-event.ts';
import { totalInput, type Usage } from '../usage.ts';
import type { WireRecord } from '../wire-values.ts';
import { carriedSignature, carriedThoughts, type SealedThought, unsealedSignature } from './signature.ts';
import { finishWord } from './wire.ts';

/** A part of an answer as it is sent. */
type AnswerPart = Readonly<Record<string, unknown>>;

/** The members that every chunk of an answer repeats. */
export interface Identity {
  readonly modelVersion?: string;
  readonly responseId?: string;
}

/** Turns the blocks of an answer into parts, text as it comes and everything else when it is whole. */
class PartWriter extends AnswerWriter<AnswerPart | null> {
  readonly citations: PlacedCitation[] = [];
  #identity: Identity;
  readonly #context: WriterContext;
  readonly #showsThoughts: boolean;
  #open: OpenBlock | null = null;
  #text = '';
  #sealed: Sealed | null = null;
  #cited: Citation[] = [];
  /** All that has been thought since anything else was written. */
  #thoughts: SealedThought[] = [];
  #parts = 0;

  /** Thoughts that are not sealed are left out when they were not asked for: naive clients print whatever text there is. */
  constructor(context: WriterContext, said: Identity | null) {
    super(null);
    this.#context = context;
    this.#identity = said ?? identityOf(context, null, null);
    this.#showsThoughts = context.turn.settings.reasoning?.shown === true;
    if (said !== null) this.#open = { kind: 'text' };
  }

  get identity(): Identity {
    return this.#identity;
  }

  /** The candidate with how it ended. `parts`: those of a whole answer, or those a stream still has. */
  candidate(parts: readonly AnswerPart[], index: number): object {
    const content = parts.length === 0 ? {} : { content: { parts, role: 'model' } };
    return {
      ...content,
      finishReason: finishWord(this.finish.reason),
      index,
      ...writeGrounding(this.citations),
    };
  }

  /** The counts of the request. Clients insist on them; where the upstream has none, the input is as it was estimated. */
  usage(): object {
    const { usage } = this.finish;
    const estimate = this.#context.inputTokensEstimate;
    return usage === null ? { promptTokenCount: estimate, totalTokenCount: estimate } : writeUsage(usage);
  }

  protected start({ answerId, model }: Start): null {
    this.#identity = identityOf(this.#context, answerId, model);
    return null;
  }

  protected open(block: OpenBlock): AnswerPart | null {
    this.#open = block;
    this.#text = '';
    this.#sealed = null;
    this.#cited = [];
    if (block.kind !== 'reasoning' && block.kind !== 'tool-call') this.#thoughts = [];
    return block.kind === 'media' ? this.#counted(mediaPart(block)) : null;
  }

  protected addCitation(citation: Citation): null {
    this.#cited.push(citation);
    return null;
  }

  protected addSeal(sealed: Sealed): null {
    this.#sealed = sealed;
    return null;
  }

  protected close(): AnswerPart | null {
    const open = this.#open;
    this.#open = null;
    switch (open?.kind) {
      case 'tool-call':
        return this.#counted(this.#callPart(open.id, open.name));
      case 'reasoning':
        return this.#counted(this.#thoughtEnd());
      case 'text':
        this.#placeCitations();
        return null;
      case 'refusal':
      case 'media':
      case undefined:
        return null;
      default:
        return unreachable(open);
    }
  }

  protected addText(text: string): AnswerPart | null {
    this.#text += text;
    switch (this.#open?.kind) {
      case 'text':
      case 'refusal':
        return this.#counted({ text });
      case 'reasoning':
        return this.#showsThoughts ? this.#counted({ text, thought: true }) : null;
      case 'tool-call':
      case 'media':
      case undefined:
        return null;
      default:
        return unreachable(this.#open);
    }
  }

  #counted(part: AnswerPart | null): AnswerPart | null {
    if (part !== null) this.#parts++;
    return part;
  }

  #placeCitations(): void {
    // In the order of parts as a client puts them together, which is that of the last one written.
    const partIndex = Math.max(0, this.#parts - 1);
    for (const citation of this.#cited) this.citations.push({ citation, partIndex, text: this.#text });
  }

  /** Arguments that are no object, as when the limit cut them off, are none. */
  #callPart(id: string, name: string): AnswerPart {
    const functionCall = { id, name, args: parseObject(this.#text) ?? {} };
    const thoughtSignature = carriedThoughts(this.#thoughts);
    this.#thoughts = [];
    if (this.#sealed !== null) return { functionCall, ...this.#signature() };
    return { functionCall, thoughtSignature: thoughtSignature ?? unsealedSignature() };
  }

  /** The seal, with the thought it belongs to where that has not been written yet. */
  #thoughtEnd(): AnswerPart | null {
    if (this.#sealed === null) return null;
    this.#thoughts.push({ kind: 'reasoning', text: this.#text, sealed: this.#sealed });
    return { text: this.#showsThoughts ? '' : this.#text, thought: true, ...this.#signature() };
  }

  #signature(): AnswerPart {
    return this.#sealed === null ? {} : { thoughtSignature: carriedSignature(this.#sealed) };
  }
}

function mediaPart({ source, mediaType }: MediaBlock): AnswerPart | null {
  switch (source.kind) {
    case 'base64':
      return { inlineData: { mimeType: mediaType ?? 'application/octet-stream', data: source.data } };
    case 'url':
      return { fileData: { mimeType: mediaType ?? 'application/octet-stream', fileUri: source.url } };
    case 'text':
      return { text: source.text };
    case 'id':
      return null;
    default:
      return unreachable(source);
  }
}

function identityOf(
  { turn, traceId }: WriterContext,
  answerId: string | null,
  model: string | null,
): Identity {
  return { modelVersion: model ?? turn.model, responseId: answerId ?? traceId };
}

/** The array that all chunks of one stream are elements of, where they are no events. */
interface ChunkArray {
  isOpen: boolean;
}

/** Writes one candidate chunk by chunk: events with CR LF, or the elements of one array, which only the last `end` closes. */
export class NativeEventWriter implements EventWriter {
  readonly #context: WriterContext;
  readonly #choice: number;
  readonly #array: ChunkArray;
  readonly #parts: PartWriter;
  /** The identity as it closes every chunk: behind the other members. */
  #closing = '';

  /** `said`: how a stream that it goes on with, within its text, has called itself. */
  constructor(
    context: WriterContext,
    said: Identity | null = null,
    choice = 0,
    array: ChunkArray = { isOpen: said !== null },
  ) {
    this.#context = context;
    this.#choice = choice;
    this.#array = array;
    this.#parts = new PartWriter(context, said);
    this.#identify();
  }

  write(event: TurnEvent): string {
    const part = this.#parts.write(event);
    if (event.kind === 'start') this.#identify();
    return this.#chunk(part);
  }

  /** An empty text, as the vendor's own last chunk has it: clients look for parts in every chunk. */
  end(ours: WireRecord = {}, isLast = true): string {
    const parts = this.#parts;
    const candidates = [parts.candidate([{ text: '' }], this.#choice)];
    const usageMetadata = isLast ? parts.usage() : undefined;
    const closing = this.#framed(JSON.stringify({ candidates, usageMetadata, ...parts.identity, ...ours }));
    return this.#context.framing === 'sse' || !isLast ? closing : `${closing}\n]`;
  }

  #identify(): void {
    const members = JSON.stringify(this.#parts.identity).slice(1, -1);
    this.#closing = members === '' ? '}' : `,${members}}`;
  }

  #chunk(part: AnswerPart | null): string {
    if (part === null) return '';
    const before = '{"candidates":[{"content":{"parts":[';
    return this.#framed(
      `${before}${JSON.stringify(part)}],"role":"model"},"index":${this.#choice}}]${this.#closing}`,
    );
  }

  #framed(json: string): string {
    if (this.#context.framing === 'sse') return `data: ${json}\r\n\r\n`;
    const before = this.#array.isOpen ? ',\r\n' : '[';
    this.#array.isOpen = true;
    return before + json;
  }
}

/** A writer for each of several candidates of one stream. */
export function openNativeWriters(context: WriterContext, choices: number): readonly EventWriter[] {
  const array = { isOpen: false };
  return Array.from({ length: choices }, (_, index) => new NativeEventWriter(context, null, index, array));
}

const encoder = new TextEncoder();

/** The answer in one object. */
export function writeAnswer(answer: TurnAnswer, context: WriterContext): Uint8Array {
  const writer = new PartWriter(context, null);
  const candidates = [writeCandidate(writer, answer, 0)];
  for (const other of answer.others ?? [])
    candidates.push(writeCandidate(new PartWriter(context, null), other, candidates.length));
  const body = { candidates, usageMetadata: writer.usage(), ...writer.identity };
  return encoder.encode(JSON.stringify(body));
}

function writeCandidate(writer: PartWriter, answer: TurnAnswer, index: number): object {
  const parts = [...answerEvents(answer)].map((event) => writer.write(event)).filter((part) => part !== null);
  return writer.candidate(joined(parts), index);
}

/** A thought and its seal, which a stream has in two parts, in one. */
function joined(parts: readonly AnswerPart[]): readonly AnswerPart[] {
  const whole: AnswerPart[] = [];
  for (const part of parts) {
    const last = whole.at(-1);
    const isSeal = part['thought'] === true && part['text'] === '';
    const isThought = last?.['thought'] === true && last['thoughtSignature'] === undefined;
    if (isSeal && isThought && last !== undefined) whole[whole.length - 1] = { ...part, text: last['text'] };
    else whole.push(part);
  }
  return whole;
}

/** A citation, and the part of the answer it belongs to. */
interface PlacedCitation {
  readonly citation: Citation;
  readonly partIndex: number;
  readonly text: string;
}

/** The wire's `groundingMetadata`; only what has an address can be named here. */
function writeGrounding(placed: readonly PlacedCitation[]): object {
  const named = placed.filter(({ citation }) => citation.url !== null);
  if (named.length === 0) return {};
  const sources = [...new Map(named.map(({ citation }) => [citation.url, citation])).values()];
  const indexes = new Map(sources.map(({ url }, index) => [url, index]));
  return {
    groundingMetadata: {
      groundingChunks: sources.map(({ url, title }) => ({ web: { uri: url, title: title ?? url } })),
      groundingSupports: named.map((each) => ({
        segment: segmentOf(each),
        groundingChunkIndices: [indexes.get(each.citation.url) ?? 0],
      })),
    },
  };
}

/** Positions are bytes of UTF-8 on this wire; a citation without them is of the whole text. */
function segmentOf({ citation, partIndex, text }: PlacedCitation): object {
  const start = citation.start ?? 0;
  const end = citation.end ?? text.length;
  return {
    partIndex,
    startIndex: byteLength(text.slice(0, start)),
    endIndex: byteLength(text.slice(0, end)),
    text: text.slice(start, end),
  };
}

function byteLength(text: string): number {
  return encoder.encode(text).length;
}

/** The wire's `usageMetadata`: the prompt includes what the cache read and wrote, candidates exclude thoughts. */
function writeUsage(usage: Usage): object {
  const prompt = totalInput(usage);
  const thoughts = Math.min(usage.outputReasoning, usage.output);
  const text = usage.output - thoughts;
  const candidates = text + usage.outputAudio + usage.outputImage;
  return {
    promptTokenCount: prompt,
    ...counted('cachedContentTokenCount', usage.inputCacheRead),
    candidatesTokenCount: candidates,
    ...counted('thoughtsTokenCount', thoughts),
    totalTokenCount: prompt + candidates + thoughts,
    ...detailed('promptTokensDetails', {
      TEXT: prompt - usage.inputAudio - usage.inputImage,
      AUDIO: usage.inputAudio,
      IMAGE: usage.inputImage,
    }),
    ...detailed('candidatesTokensDetails', {
      TEXT: text,
      AUDIO: usage.outputAudio,
      IMAGE: usage.outputImage,
    }),
  };
}

/** Zero is left out. */
function counted(name: string, tokens: number): object {
  return tokens === 0 ? {} : { [name]: tokens };
}

function detailed(name: string, byModality: Readonly<Record<string, number>>): object {
  const details = Object.entries(byModality)
    .filter(([, tokenCount]) => tokenCount > 0)
    .map(([modality, tokenCount]) => ({ modality, tokenCount }));
  return details.length === 0 ? {} : { [name]: details };
}
