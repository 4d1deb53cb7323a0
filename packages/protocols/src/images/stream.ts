import { JsonReader } from '../bytes/scan.ts';
import { readSseEvent } from '../bytes/sse.ts';
import type { AnswerReading, FrameRole, Reading, StreamReader, UpstreamRefusal } from '../protocol.ts';
import { parseError, refusalOf } from '../refusal.ts';
import { notAnAnswer } from '../stream-reader.ts';
import type { Usage } from '../usage.ts';
import { type ImageCount, noTerms, termWord, type UsageTerms } from '../usage.ts';
import { addImageUsage, readUsage } from './meter.ts';
import { type Members, readMembers } from './request.ts';
import { type AnswerMember, answerNames } from './wire.ts';

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const noBytes = new Uint8Array(0);
const openBrace = 0x7b;

/**
 * Reads drafts and images as they come. There is no frame but the last image's to end the stream, so the reader must know
 * how many were asked for; where fewer come, a clean end of the connection ends it.
 */
export class ImagesStreamReader implements StreamReader {
  readonly #choices: number;
  readonly #reading = new RunningReading();
  #refusal: UpstreamRefusal | null = null;

  constructor(choices: number) {
    this.#choices = choices;
  }

  get reading(): Reading {
    return this.#reading;
  }

  get refusal(): UpstreamRefusal | null {
    return this.#refusal;
  }

  read(frame: Uint8Array): FrameRole {
    // The usual frame has its one object on one line, which says its type, and may be megabytes long.
    const usual = readObject(frame, frame.indexOf(openBrace));
    if (usual !== null && usual.start('type') !== null) return this.#take(usual, null, frame);
    const event = readSseEvent(frame);
    if (!event.isWellFormed) return this.#fail(decoder.decode(frame));
    const data = event.data?.trim() ?? '';
    if (data === '') return 'liveness';
    if (data === '[DONE]') return 'terminal';
    const members = readObject(encoder.encode(data), 0);
    return members === null ? this.#fail(data) : this.#take(members, event.name, frame);
  }

  isWholeWithoutTerminal(): boolean {
    const { finished, drafts } = this.#reading.images;
    return finished > 0 && drafts === 0 && this.#refusal === null;
  }

  mayHaveEnded(): boolean {
    return this.isWholeWithoutTerminal();
  }

  missingEnd(): Uint8Array {
    return noBytes;
  }

  #take(members: Members<AnswerMember>, name: string | null, frame: Uint8Array): FrameRole {
    const said = members.value('type');
    const type = typeof said === 'string' ? said : name;
    const isError = type === null || type === 'error' || (members.value('error') ?? null) !== null;
    if (isError) return this.#fail(readSseEvent(frame).data ?? decoder.decode(frame));
    if (!type.endsWith('.partial_image')) return this.#takeOther(type, members);
    if (!hasImage(members)) return 'preamble';
    this.#reading.takeDraft();
    return 'content';
  }

  /** Any other event with a picture brings an image; those without one pass, but for the end that some servers send apart. */
  #takeOther(type: string, members: Members<AnswerMember>): FrameRole {
    const isImage = hasImage(members);
    if (isImage) this.#reading.takeImage();
    const isCompleted = type.endsWith('.completed');
    if (isImage || isCompleted) this.#reading.takeTerms(members);
    const isLast = !isImage || this.#reading.images.finished >= this.#choices;
    if (isCompleted && isLast) return 'terminal';
    return isImage ? 'content' : 'preamble';
  }

  #fail(text: string): FrameRole {
    const refusal = refusalOf(parseError(text), text);
    this.#refusal ??= refusal;
    return refusal.kind === 'garbled' ? 'garbled' : 'error';
  }
}

/** The members of the object that begins at `at` and ends with the bytes; null for anything else. */
function readObject(bytes: Uint8Array, at: number): Members<AnswerMember> | null {
  if (at === -1) return null;
  const reader = new JsonReader(bytes, at);
  const members = readMembers(reader, answerNames);
  return reader.isAtEnd() ? members : null;
}

/** One answer as far as it has been read. Images are counted as pieces beside the tokens the upstream reports. */
class RunningReading implements Reading {
  readonly finishReason = null;
  readonly finishReasonRaw = null;
  readonly outputBytes = 0;
  readonly usageAtOutputBytes = 0;
  modelServed: string | null = null;
  #tokens: Usage | null = null;
  terms: UsageTerms = noTerms;
  #finished = 0;
  #drafts = 0;

  get usage(): Usage | null {
    return this.#tokens === null ? null : { ...this.#tokens, images: this.#finished };
  }

  get hasOutput(): boolean {
    return this.#finished + this.#drafts > 0;
  }

  get images(): ImageCount {
    return { finished: this.#finished, drafts: this.#drafts };
  }

  takeDraft(): void {
    this.#drafts++;
  }

  takeImage(): void {
    this.#finished++;
    this.#drafts = 0;
  }

  /** Takes the word of an answer, or of the event that ends an image, about itself. */
  takeTerms(members: Members<AnswerMember>): void {
    this.terms = {
      ...noTerms,
      size: termWord(members.value('size')) ?? this.terms.size,
      quality: termWord(members.value('quality')) ?? this.terms.quality,
    };
    const model = members.value('model');
    if (typeof model === 'string' && model !== '') this.modelServed = model;
    this.#tokens = addImageUsage(this.#tokens, readUsage(members.value('usage')));
  }
}

/** Reads a whole JSON answer of status 200, which may be an error all the same. Its images are not decoded. */
export function readAnswer(body: Uint8Array): AnswerReading {
  const reader = new JsonReader(body);
  const members = readMembers(reader, answerNames);
  const data = members?.start('data') ?? null;
  if (members !== null && data !== null && reader.isAtEnd()) {
    const images = new JsonReader(body, data);
    if (images.kind === 'array') return { kind: 'answer', reading: readImages(members, images) };
  }
  return notAnAnswer(body);
}

function readImages(members: Members<AnswerMember>, images: JsonReader): RunningReading {
  const reading = new RunningReading();
  images.enterArray();
  while (images.nextElement()) {
    const image = readMembers(images, answerNames);
    if (image !== null && hasImage(image)) reading.takeImage();
  }
  reading.takeTerms(members);
  return reading;
}

/** A picture comes in either form. */
function hasImage(members: Members<AnswerMember>): boolean {
  return members.isText('b64_json') || members.isText('url');
}
