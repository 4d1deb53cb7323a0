import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { chatCompletionsCodec } from '../chat-completions/index.ts';
import type { Codec, TranslationTarget } from '../codec.ts';
import { generateContentCodec } from '../generate-content/index.ts';
import { messagesCodec } from '../messages/index.ts';
import { defaultDialect } from '../request.ts';
import { responsesCodec } from '../responses/index.ts';
import { translate } from '../translation.ts';
import { type Block, type Message, noSettings, type Tool, type Turn } from '../turn.ts';
import { listOf, recordOf, type WireRecord } from '../wire-values.ts';

/*
 * Whatever a conversation has been through (other vendors, agents that were cut off, servers with ids of their own), what is
 * sent of it must be one that the target's vendor takes: these are the rules by which vendors refuse whole requests.
 */

const decoder = new TextDecoder();
const target: TranslationTarget = {
  upstreamModel: 'served',
  path: '/models/{model}:{action}',
  dialect: defaultDialect,
  origin: 'here',
  maxOutputTokens: 1_000,
  reasoning: true,
};

function sent(codec: Codec, messages: readonly Message[], rest: Partial<TranslationTarget> = {}): WireRecord {
  const turn: Turn = {
    surface: (codec === chatCompletionsCodec ? messagesCodec : chatCompletionsCodec).surface,
    model: 'alias',
    stream: false,
    system: [],
    messages,
    tools: [tool],
    toolChoice: null,
    settings: noSettings,
    spelling: {},
    extensions: [],
  };
  const context = {
    turn,
    traceId: '0'.repeat(32),
    createdS: 0,
    wantsUsageFrame: false,
    framing: 'sse' as const,
    inputTokensEstimate: 1,
  };
  const translation = translate({ caller: messagesCodec, upstream: codec }, { ...target, ...rest }, context);
  if (!translation.ok) throw new Error(translation.error.message);
  return recordOf(JSON.parse(translation.value.request.body.map((piece) => decoder.decode(piece)).join('')));
}

const tool: Tool = {
  kind: 'function',
  name: 'clock',
  namespace: null,
  description: '',
  parameters: null,
  strict: null,
  cacheTtl: null,
};

const ids = fc.constantFrom('a', 'b', 'call_0', '', 'functions.clock:0', 'ü'.repeat(80), 'x'.repeat(200));
const words = fc.constantFrom('', ' \n', 'hello', '{"t":1}');
const seals = fc.constantFrom(null, 'here', 'elsewhere', 'native');

const texts = words.map((text): Block => ({ kind: 'text', text, citations: [], cacheTtl: null }));
const images = fc.constant<Block & { kind: 'media' }>({
  kind: 'media',
  media: 'image',
  mediaType: 'image/png',
  source: { kind: 'base64', data: 'iVBORw0KGgo=' },
  filename: null,
  detail: null,
  cacheTtl: null,
});
const calls = fc
  .record({
    id: ids,
    input: fc.constantFrom('', '{}', '{"a":1}', '{"cut'),
    form: fc.constantFrom('function', 'custom'),
  })
  .map(
    (call): Block => ({
      kind: 'tool-call',
      name: call.form === 'custom' ? 'mcp.run/x' : 'clock',
      namespace: null,
      sealed: null,
      ...call,
    }),
  );
const thoughts = fc.record({ text: words, origin: seals }).map(
  ({ text, origin }): Block => ({
    kind: 'reasoning',
    text,
    sealed: origin === null ? null : { origin, data: 'c2VhbA==', form: 'signature' },
  }),
);
const results = fc
  .record({
    callId: ids,
    isError: fc.boolean(),
    content: fc.array(fc.oneof(texts, images), { maxLength: 2 }),
  })
  .map(
    (result): Block => ({
      kind: 'tool-result',
      ...result,
      content: result.content.filter((part) => part.kind === 'text' || part.kind === 'media'),
      cacheTtl: null,
    }),
  );
const refusals = words.map((text): Block => ({ kind: 'refusal', text }));

const spoken = fc.oneof(
  fc.record({
    role: fc.constant('assistant' as const),
    content: fc.array(fc.oneof(texts, calls, calls, thoughts, refusals, images), { maxLength: 4 }),
  }),
  fc.record({
    role: fc.constant('user' as const),
    content: fc.array(fc.oneof(texts, results, results, images), { maxLength: 4 }),
  }),
  fc.record({ role: fc.constant('system' as const), content: fc.array(texts, { maxLength: 2 }) }),
);
const conversations = fc.array(
  spoken.map((message): Message => ({ ...message, name: null })),
  { maxLength: 8 },
);

function holds(check: (conversation: readonly Message[]) => void): void {
  fc.assert(fc.property(conversations, check), { numRuns: 500 });
}

function records(value: unknown): readonly WireRecord[] {
  return listOf(value).map(recordOf);
}

/** Every id as often as it stands. */
function idsOf(blocks: readonly WireRecord[], type: string, name: string): readonly unknown[] {
  return blocks.filter((block) => block['type'] === type).map((block) => block[name]);
}

function expectUnique(list: readonly unknown[]): void {
  expect(new Set(list).size, list.join()).toBe(list.length);
}

function expectAlternating(roles: readonly unknown[], model: string): void {
  for (const [index, role] of roles.entries()) expect(role).toBe(index % 2 === 0 ? 'user' : model);
}

describe('of any conversation', () => {
  test('a messages upstream gets turns whose calls are answered at once', () => {
    holds((conversation) => {
      const messages = records(sent(messagesCodec, conversation)['messages']);
      expectAlternating(
        messages.map(({ role }) => role),
        'assistant',
      );
      expectUnique(messages.flatMap(({ content }) => idsOf(records(content), 'tool_use', 'id')));
      for (const [index, { role, content }] of messages.entries()) {
        const blocks = records(content);
        expect(blocks).not.toEqual([]);
        for (const block of blocks) expectMessagesBlock(block, role === 'assistant');
        const called = idsOf(blocks, 'tool_use', 'id');
        const next = records(messages[index + 1]?.['content']);
        expect(next.slice(0, called.length).map((block) => block['tool_use_id'])).toEqual(called);
        const before = records(messages[index - 1]?.['content']);
        expect(idsOf(blocks, 'tool_result', 'tool_use_id')).toEqual(idsOf(before, 'tool_use', 'id'));
      }
    });
  });

  test('a chat upstream gets each result right behind its call', () => {
    holds((conversation) =>
      expectChat(records(sent(chatCompletionsCodec, conversation)['messages']), /^[!-~]{1,40}$/),
    );
  });

  test('a chat upstream with ids of its own form gets those', () => {
    const dialect = { ...defaultDialect, callIds: 'nine-alphanumerics' as const };
    holds((conversation) =>
      expectChat(
        records(sent(chatCompletionsCodec, conversation, { dialect })['messages']),
        /^[a-zA-Z0-9]{9}$/,
      ),
    );
  });

  test('a responses upstream gets one output for each call, and no thought that leads nowhere', () => {
    holds((conversation) => {
      const items = records(sent(responsesCodec, conversation)['input']);
      const open = new Set<unknown>();
      const known: unknown[] = [];
      for (const [index, item] of items.entries()) {
        const type = String(item['type']);
        if (type === 'reasoning')
          expect(['message', 'function_call', 'custom_tool_call', 'reasoning']).toContain(
            items[index + 1]?.['type'],
          );
        if (type === 'message') expect(item['content']).not.toEqual([]);
        if (type.endsWith('_call')) {
          expect(item['call_id']).toMatch(/^[!-~]{1,64}$/);
          expect(item['name']).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
          known.push(item['call_id']);
          open.add(item['call_id']);
        }
        if (type.endsWith('_output')) expect(open.delete(item['call_id'])).toBe(true);
      }
      expect([...open]).toEqual([]);
      expectUnique(known);
    });
  });

  test('a native upstream gets as many responses as calls, in their order', () => {
    holds((conversation) => {
      const contents = records(sent(generateContentCodec, conversation)['contents']);
      expectAlternating(
        contents.map(({ role }) => role),
        'model',
      );
      for (const [index, content] of contents.entries()) {
        const parts = records(content['parts']);
        expect(parts).not.toEqual([]);
        expect(namesIn(parts, 'functionCall')).toEqual(
          namesIn(records(contents[index + 1]?.['parts']), 'functionResponse'),
        );
        expect(namesIn(parts, 'functionResponse')).toEqual(
          namesIn(records(contents[index - 1]?.['parts']), 'functionCall'),
        );
      }
    });
  });
});

function namesIn(parts: readonly WireRecord[], kind: string): readonly unknown[] {
  return parts
    .filter((part) => kind in part)
    .map((part) => recordOf(part[kind]))
    .map(({ id, name }) => `${String(id)} ${String(name)}`);
}

function expectMessagesBlock(block: WireRecord, isModel: boolean): void {
  switch (block['type']) {
    case 'text':
      return expect(String(block['text']).trim()).not.toBe('');
    case 'image':
      return expect(isModel, 'a picture said by the model').toBe(false);
    case 'tool_use':
      expect(block['id']).toMatch(/^[a-zA-Z0-9_-]+$/);
      expect(block['name']).toMatch(/^[a-zA-Z0-9_-]{1,128}$/);
      return expect(isModel).toBe(true);
    case 'tool_result':
      for (const part of records(block['content'])) expectMessagesBlock(part, false);
      return expect(isModel).toBe(false);
    default:
      expect(['thinking', 'redacted_thinking']).toContain(block['type']);
      expect(isModel).toBe(true);
  }
}

function expectChat(messages: readonly WireRecord[], id: RegExp): void {
  let waiting: unknown[] = [];
  for (const message of messages) {
    if (message['role'] === 'tool') {
      expect(message['tool_call_id']).toBe(waiting.shift());
      continue;
    }
    expect(waiting).toEqual([]);
    const called = records(message['tool_calls']);
    waiting = called.map((call) => call['id']);
    expectUnique(waiting);
    for (const callId of waiting) expect(callId).toMatch(id);
    for (const call of called) expect(recordOf(call['function'])['name']).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
    if (called.length === 0) expect([null, '', []]).not.toContainEqual(message['content']);
  }
  expect(waiting).toEqual([]);
}
