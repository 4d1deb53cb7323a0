import type { FinishReason } from '../finish-reason.ts';
import { readFinishReason } from '../finish-reason.ts';
import type { Reading } from '../protocol.ts';
import type { Usage } from '../usage.ts';
import { isRecord, recordOf, type WireRecord } from '../wire-values.ts';
import { mergeUsage, readUsage } from './meter.ts';
import { emptyBlockTypes, textMembers } from './wire.ts';

const encoder = new TextEncoder();

/** What has been read of one answer so far: the message a stream opens with, then its blocks and its end. */
export class RunningReading implements Reading {
  usage: Usage | null = null;
  finishReasonRaw: string | null = null;
  modelServed: string | null = null;
  answerId: string | null = null;
  containerId: string | null = null;
  hasOutput = false;
  outputBytes = 0;
  usageAtOutputBytes = 0;
  #firstUsage: unknown = null;
  #isOpen = false;

  get finishReason(): FinishReason | null {
    return this.finishReasonRaw === null ? null : readFinishReason(this.finishReasonRaw);
  }

  /** A second beginning, which some proxies send, begins nothing. */
  open(message: WireRecord): void {
    if (this.#isOpen) return;
    this.#isOpen = true;
    this.modelServed = textOf(message['model']);
    this.answerId = textOf(message['id']);
    this.#takeContainer(message);
    this.#firstUsage = message['usage'];
    this.usage = readUsage(this.#firstUsage);
  }

  /** Takes the beginning of a block, or a whole one. Whether it is more than an opening. */
  takeBlock(block: WireRecord): boolean {
    const isEmpty = emptyBlockTypes.has(block['type']) && !hasText(block);
    if (isEmpty) return false;
    this.#count(block);
    if (isRecord(block['input'])) this.outputBytes += byteLength(JSON.stringify(block['input']));
    return true;
  }

  /** Whether there is anything in the delta. */
  takeDelta(delta: WireRecord): boolean {
    const isFilled = Object.entries(delta).some(([name, value]) => name !== 'type' && isContent(value));
    if (isFilled) this.#count(delta);
    return isFilled;
  }

  /** `end`: what a message's delta says, or the message itself. */
  close(end: WireRecord, lastUsage: unknown): void {
    this.finishReasonRaw = textOf(end['stop_reason']) ?? this.finishReasonRaw;
    this.#takeContainer(end);
    if (!isRecord(lastUsage)) return;
    this.usage = readUsage(mergeUsage(this.#firstUsage, lastUsage));
    this.usageAtOutputBytes = this.outputBytes;
  }

  #takeContainer({ container }: WireRecord): void {
    this.containerId = textOf(recordOf(container)['id']) ?? this.containerId;
  }

  #count(part: WireRecord): void {
    this.hasOutput = true;
    for (const name of textMembers) this.outputBytes += byteLength(textOf(part[name]) ?? '');
  }
}

/** A whole message in one piece. */
export function readMessage(message: WireRecord): RunningReading {
  const reading = new RunningReading();
  reading.open({ id: message['id'], model: message['model'] });
  const content: readonly unknown[] = Array.isArray(message['content']) ? message['content'] : [];
  for (const block of content) reading.takeBlock(recordOf(block));
  reading.close(message, message['usage']);
  return reading;
}

function hasText(block: WireRecord): boolean {
  return [...textMembers, 'signature'].some((name) => textOf(block[name]) !== null);
}

function isContent(value: unknown): boolean {
  return isRecord(value) || textOf(value) !== null;
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

function byteLength(text: string): number {
  return encoder.encode(text).length;
}
