import type { EventWriter, WriterContext } from '../../codec.ts';
import { unreachable } from '../../result.ts';
import { parseObject } from '../../translate/parse-object.ts';
import type { MediaBlock, Sealed } from '../../turn.ts';
import type { BlockDelta, Finish, OpenBlock, TurnEvent } from '../../turn-event.ts';
import { finishWord } from './finish-words.ts';
import { carriedSignature, carriedThoughts, type SealedThought, unsealedSignature } from './signature.ts';
import { type PlacedCitation, writeGrounding } from './write-citations.ts';
import { writeUsage } from './write-usage.ts';

/** A part of an answer as it is sent. */
export type AnswerPart = Readonly<Record<string, unknown>>;

/** The members that every chunk of an answer repeats. */
export interface Identity {
  readonly modelVersion: string;
  readonly responseId: string;
}

/** Turns the blocks of an answer into parts, text as it comes and everything else when it is whole. */
export class PartWriter {
  readonly citations: PlacedCitation[] = [];
  readonly #showsThoughts: boolean;
  #open: OpenBlock | null = null;
  #text = '';
  #sealed: Sealed | null = null;
  #cited: BlockDelta[] = [];
  /** What has been thought since anything else was written. */
  #thoughts: SealedThought[] = [];
  #parts = 0;

  /** Thoughts that are not sealed are left out when they were not asked for: naive clients print whatever text there is. */
  constructor({ turn }: WriterContext) {
    this.#showsThoughts = turn.settings.reasoning?.shown === true;
  }

  start(block: OpenBlock): AnswerPart | null {
    this.#open = block;
    this.#text = '';
    this.#sealed = null;
    this.#cited = [];
    if (block.kind !== 'reasoning' && block.kind !== 'tool-call') this.#thoughts = [];
    return block.kind === 'media' ? this.#counted(mediaPart(block)) : null;
  }

  take(delta: BlockDelta): AnswerPart | null {
    switch (delta.kind) {
      case 'text':
        return this.#takeText(delta.text);
      case 'sealed':
        this.#sealed = delta.sealed;
        return null;
      case 'citation':
        this.#cited.push(delta);
        return null;
      default:
        return unreachable(delta);
    }
  }

  stop(): AnswerPart | null {
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

  #takeText(text: string): AnswerPart | null {
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
    for (const delta of this.#cited)
      if (delta.kind === 'citation')
        this.citations.push({ citation: delta.citation, partIndex, text: this.#text });
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

/** The chunk that says how the answer ended. `parts`: those of a whole answer, or those a stream still has. */
export function lastChunk(
  parts: readonly AnswerPart[],
  { reason, usage }: Pick<Finish, 'reason' | 'usage'>,
  citations: readonly PlacedCitation[],
  { identity, context }: { readonly identity: Identity; readonly context: WriterContext },
): object {
  const content = parts.length === 0 ? {} : { content: { parts, role: 'model' } };
  const estimate = context.inputTokensEstimate;
  return {
    candidates: [{ ...content, finishReason: finishWord(reason), index: 0, ...writeGrounding(citations) }],
    // Clients insist on it; where the upstream has counted nothing, the input is as it was estimated.
    usageMetadata:
      usage === null ? { promptTokenCount: estimate, totalTokenCount: estimate } : writeUsage(usage),
    ...identity,
  };
}

export function identityOf(
  { turn, traceId }: WriterContext,
  answerId: string | null,
  model: string | null,
): Identity {
  return { modelVersion: model ?? turn.model, responseId: answerId ?? traceId };
}

const noFinish: Finish = { reason: 'unknown', rawReason: null, stopSequence: null, usage: null };

/** Writes an answer chunk by chunk: events with CR LF, or the elements of one array, which only `end` closes. */
export class NativeEventWriter implements EventWriter {
  readonly #context: WriterContext;
  readonly #parts: PartWriter;
  #identity: Identity;
  #finish = noFinish;
  #isOpen = false;

  constructor(context: WriterContext) {
    this.#context = context;
    this.#parts = new PartWriter(context);
    this.#identity = identityOf(context, null, null);
  }

  write(event: TurnEvent): string {
    switch (event.kind) {
      case 'start':
        this.#identity = identityOf(this.#context, event.answerId, event.model);
        return '';
      case 'block-start':
        return this.#chunk(this.#parts.start(event.block));
      case 'delta':
        return this.#chunk(this.#parts.take(event.delta));
      case 'block-stop':
        return this.#chunk(this.#parts.stop());
      case 'finish':
        this.#finish = event;
        return '';
      default:
        return unreachable(event);
    }
  }

  /** An empty text, as the vendor's own last chunk has it: clients look for parts in every chunk. */
  end(): string {
    const { citations } = this.#parts;
    const told = { identity: this.#identity, context: this.#context };
    const closing = this.#framed(lastChunk([{ text: '' }], this.#finish, citations, told));
    return this.#context.framing === 'sse' ? closing : `${closing}\n]`;
  }

  #chunk(part: AnswerPart | null): string {
    if (part === null) return '';
    const candidates = [{ content: { parts: [part], role: 'model' }, index: 0 }];
    return this.#framed({ candidates, ...this.#identity });
  }

  #framed(chunk: object): string {
    const json = JSON.stringify(chunk);
    if (this.#context.framing === 'sse') return `data: ${json}\r\n\r\n`;
    const before = this.#isOpen ? ',\r\n' : '[';
    this.#isOpen = true;
    return before + json;
  }
}
