import { expect } from 'vitest';
import type { Surface } from './surface-calls.ts';

/** A stream of words as a strict client reads it. */
export interface StreamRead {
  readonly text: string;
  readonly finish: string;
  /** Tokens as the caller is told; null where it was told none. */
  readonly usage: { readonly input: number; readonly output: number } | null;
}

/** A text; anything else is none. */
function word(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

type Wire = Readonly<Record<string, unknown>>;

/** Reads a whole stream of server-sent events. Fails where its parts do not belong together. */
export function readStream(surface: Surface, body: Buffer): StreamRead {
  return readers[surface](eventsIn(body));
}

/** The data of all events, parsed; the end mark of chat completions as it is. */
function eventsIn(body: Buffer): readonly Wire[] {
  return body
    .toString()
    .split(/\r?\n\r?\n/)
    .flatMap((frame) => frame.split(/\r?\n/).filter((line) => line.startsWith('data:')))
    .map((line) => line.slice('data:'.length).trim())
    .map((data) => (data === '[DONE]' ? { done: true } : (JSON.parse(data) as Wire)));
}

const readers: Readonly<Record<Surface, (events: readonly Wire[]) => StreamRead>> = {
  'chat-completions': readChat,
  responses: readResponses,
  messages: readMessages,
  'generate-content': readNative,
};

function readChat(events: readonly Wire[]): StreamRead {
  const last = events.at(-1);
  expect(last).toEqual({ done: true });
  const chunks = events.slice(0, -1);
  expect(
    new Set(chunks.map(({ id, created, model, object }) => JSON.stringify([id, created, model, object])))
      .size,
  ).toBe(1);
  const choices = chunks.flatMap(({ choices: some }) => some as readonly Wire[]);
  expect(choices.every(({ index }) => index === 0)).toBe(true);
  expect(choices.filter(({ delta }) => (delta as Wire)['role'] !== undefined)).toHaveLength(1);
  const finishes = choices.filter(({ finish_reason }) => finish_reason !== null);
  expect(finishes).toHaveLength(1);
  const usage = chunks.findLast((chunk) => chunk['usage'] != null)?.['usage'] as Wire | undefined;
  return {
    text: choices.map(({ delta }) => word((delta as Wire)['content'] ?? '')).join(''),
    finish: word(finishes[0]?.['finish_reason']),
    usage:
      usage === undefined
        ? null
        : { input: Number(usage['prompt_tokens']), output: Number(usage['completion_tokens']) },
  };
}

function readMessages(events: readonly Wire[]): StreamRead {
  const told = events.filter(({ type }) => type !== 'ping');
  expect(told[0]?.['type']).toBe('message_start');
  expect(told.at(-1)?.['type']).toBe('message_stop');
  let open: unknown = null;
  let next = 0;
  let text = '';
  for (const event of told.slice(1, -2)) {
    if (event['type'] === 'content_block_start') {
      expect([open, event['index']]).toEqual([null, next]);
      open = next++;
    } else {
      expect(event['index']).toBe(open);
      if (event['type'] === 'content_block_stop') open = null;
      else text += word((event['delta'] as Wire)['text'] ?? '');
    }
  }
  expect(open).toBeNull();
  const end = told.at(-2);
  expect(end?.['type']).toBe('message_delta');
  const usage = end?.['usage'] as Wire;
  const started = (told[0]?.['message'] as Wire | undefined)?.['usage'] as Wire;
  const input = Number(usage['input_tokens'] ?? started['input_tokens']);
  return {
    text,
    finish: word((end?.['delta'] as Wire | undefined)?.['stop_reason']),
    usage: { input, output: Number(usage['output_tokens']) },
  };
}

function readResponses(events: readonly Wire[]): StreamRead {
  expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, index) => index));
  const text = events
    .filter(({ type }) => type === 'response.output_text.delta')
    .map(({ delta }) => word(delta))
    .join('');
  const added = events.filter(({ type }) => type === 'response.output_item.added').length;
  expect(events.filter(({ type }) => type === 'response.output_item.done')).toHaveLength(added);
  const items = new Set(events.flatMap(({ item_id }) => (item_id === undefined ? [] : [item_id])));
  expect(items.size).toBe(1);
  const first = events[0]?.['response'] as Wire;
  const response = events.at(-1)?.['response'] as Wire;
  expect(response['id']).toBe(first['id']);
  const output = response['output'] as readonly Wire[];
  expect(output).toHaveLength(added);
  const message = output.find(({ type }) => type === 'message') as Wire;
  expect([...items]).toEqual([message['id']]);
  expect((message['content'] as readonly Wire[]).map((part) => part['text']).join('')).toBe(text);
  expect(events.findLast(({ type }) => type === 'response.output_text.done')?.['text']).toBe(text);
  const usage = response['usage'] as Wire;
  return {
    text,
    finish: word(response['status']),
    usage: { input: Number(usage['input_tokens']), output: Number(usage['output_tokens']) },
  };
}

function readNative(events: readonly Wire[]): StreamRead {
  expect(
    new Set(events.map(({ responseId, modelVersion }) => JSON.stringify([responseId, modelVersion]))).size,
  ).toBe(1);
  const candidates = events.map(({ candidates: some }) => (some as readonly Wire[])[0] ?? {});
  const finishes = candidates.filter(({ finishReason }) => finishReason !== undefined);
  expect(finishes).toHaveLength(1);
  const parts = candidates.flatMap(
    ({ content }) => ((content as Wire | undefined)?.['parts'] ?? []) as readonly Wire[],
  );
  const usage = events.at(-1)?.['usageMetadata'] as Wire;
  return {
    text: parts.map(({ text }) => word(text ?? '')).join(''),
    finish: word(finishes[0]?.['finishReason']),
    usage: { input: Number(usage['promptTokenCount']), output: Number(usage['candidatesTokenCount']) },
  };
}
