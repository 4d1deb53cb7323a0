import { describe, expect, test } from 'vitest';
import { chatCompletionsCodec } from '../chat-completions/index.ts';
import { generateContentCodec } from '../generate-content/index.ts';
import { messagesCodec } from '../messages/index.ts';
import { defaultDialect } from '../request.ts';
import { responsesCodec } from '../responses/index.ts';
import { translate } from '../translation.ts';
import type { FunctionTool, Turn, TurnSettings } from '../turn.ts';
import { recordOf, type WireRecord } from '../wire-values.ts';
import { traceId, turnOf } from './turn.fixture.ts';

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const map = { type: 'object', additionalProperties: { type: 'integer' } };
const surfaces = {
  'chat-completions': chatCompletionsCodec,
  responses: responsesCodec,
  'generate-content': generateContentCodec,
};

function look(name = 'look'): FunctionTool {
  const rest = { namespace: null, description: '', strict: null, cacheTtl: null } as const;
  return { kind: 'function', name, parameters: null, ...rest };
}

interface Asked extends Partial<Pick<Turn, 'tools' | 'toolChoice' | 'stream'>> {
  readonly schema?: WireRecord;
  readonly settings?: Partial<TurnSettings>;
}

/** The request that a messages upstream gets for a schema with a map in it, and the way back. */
function ask(
  { schema = map, settings = {}, ...given }: Asked = {},
  surface: keyof typeof surfaces = 'responses',
) {
  const caller = surfaces[surface];
  const outputFormat = {
    kind: 'json-schema',
    name: 'x',
    description: 'Counts.',
    schema,
    strict: true,
  } as const;
  const turn = turnOf({
    surface: caller.surface,
    settings: { ...settings, outputFormat },
    spelling: { outputFormat: 'text.format' },
    ...given,
  });
  const target = {
    upstreamModel: 'm',
    path: '/',
    dialect: defaultDialect,
    origin: 'o',
    maxOutputTokens: 99,
    reasoning: true,
  };
  const context = {
    turn,
    traceId,
    createdS: 1,
    wantsUsageFrame: true,
    framing: 'sse' as const,
    inputTokensEstimate: 1,
  };
  const translation = translate({ caller, upstream: messagesCodec }, target, context);
  if (!translation.ok) throw new Error(translation.error.message);
  const body = recordOf(
    JSON.parse(translation.value.request.body.map((piece) => decoder.decode(piece)).join('')),
  );
  return { translation: translation.value, body };
}

const usage = { input_tokens: 9, output_tokens: 4 };
const called = (input: object, name = 'answer') => ({ type: 'tool_use', id: 'toolu_1', name, input });

function message(content: readonly object[], stop_reason = 'tool_use') {
  const common = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm' };
  return encoder.encode(JSON.stringify({ ...common, content, stop_reason, usage }));
}

/** The stream of the same, each input in pieces of three characters. */
function frames(
  content: readonly { readonly type: string; readonly input?: object; readonly text?: string }[],
) {
  const events: object[] = [
    { type: 'message_start', message: { id: 'msg_1', model: 'm', content: [], usage } },
  ];
  for (const [index, block] of content.entries()) {
    const isCall = block.input !== undefined;
    events.push({
      type: 'content_block_start',
      index,
      content_block: isCall ? { ...block, input: {} } : { ...block, text: '' },
    });
    for (const piece of (isCall ? JSON.stringify(block.input) : (block.text ?? '')).match(/.{1,3}/gs) ?? []) {
      const delta = isCall
        ? { type: 'input_json_delta', partial_json: piece }
        : { type: 'text_delta', text: piece };
      events.push({ type: 'content_block_delta', index, delta });
    }
    events.push({ type: 'content_block_stop', index });
  }
  events.push({ type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage }, { type: 'message_stop' });
  return events.map((event) => encoder.encode(`data: ${JSON.stringify(event)}\n\n`));
}

describe('the request', () => {
  test('has one tool that must be called, with the schema as it is, and no form of the words', () => {
    const { body, translation } = ask();
    expect(body).toMatchObject({
      tools: [{ name: 'answer', input_schema: { ...map, properties: {} } }],
      tool_choice: { type: 'tool', name: 'answer', disable_parallel_tool_use: true },
    });
    expect(body['output_config']).toBeUndefined();
    expect(JSON.stringify(body['tools'])).toContain('Counts.');
    expect(translation.losses).toEqual([
      { field: 'text.format', action: 'changed', note: 'by a tool, for additionalProperties' },
    ]);
  });

  test('has one of all tools called where the caller has others, under a name that is none of theirs', () => {
    const { body } = ask({ tools: [look(), look('answer')] });
    const names = (body['tools'] as readonly WireRecord[]).map(({ name }) => name);
    expect(names).toEqual(['look', 'answer', 'answer_2']);
    expect(body['tool_choice']).toEqual({ type: 'any', disable_parallel_tool_use: true });
  });

  test('leaves tools alone that may not be called', () => {
    const { body } = ask({ tools: [look()], toolChoice: { kind: 'none' } });
    expect(body['tool_choice']).toMatchObject({ type: 'tool', name: 'answer' });
  });

  test('has none of it where a tool is to be called in any case', () => {
    const { body, translation } = ask({ tools: [look()], toolChoice: { kind: 'required' } });
    expect(body['tools']).toHaveLength(1);
    expect(translation.losses).toMatchObject([{ field: 'text.format', action: 'dropped' }]);
  });

  test('does not ask for thought, which is refused beside a tool that must be called', () => {
    const reasoning = { effort: 'high', budgetTokens: null, shown: null } as const;
    const { body } = ask({ settings: { reasoning } });
    expect(body['thinking']).toEqual({ type: 'disabled' });
  });

  test('puts what is no object into one', () => {
    const schema = { type: 'array', items: { $ref: '#/$defs/n' }, $defs: { n: { type: 'integer' } } };
    const [tool] = ask({ schema }).body['tools'] as readonly WireRecord[];
    expect(tool?.['input_schema']).toMatchObject({
      type: 'object',
      properties: { value: { type: 'array', items: { $ref: '#/$defs/n' } } },
      required: ['value'],
      $defs: { n: { type: 'integer' } },
    });
  });
});

/** The text, the reason and the tokens of an answer, whole or streamed, as each surface has them. */
const told = {
  'chat-completions': {
    whole: (answer: string) => {
      const { choices, usage } = JSON.parse(answer) as {
        choices: [{ message: WireRecord; finish_reason: string }];
        usage: WireRecord;
      };
      const [{ message, finish_reason }] = choices;
      return [message['content'], message['tool_calls'] ?? null, finish_reason, usage['completion_tokens']];
    },
    end: '"finish_reason":"stop"',
    piece: /"content":"((?:[^"\\]|\\.)*)"/g,
  },
  responses: {
    whole: (answer: string) => {
      const { output, status, usage } = JSON.parse(answer) as {
        output: readonly WireRecord[];
        status: string;
        usage: WireRecord;
      };
      const [item, ...others] = output;
      const [part] = (item?.['content'] ?? []) as readonly WireRecord[];
      return [
        part?.['text'],
        others.length === 0 ? null : others,
        status === 'completed' ? 'stop' : status,
        usage['output_tokens'],
      ];
    },
    end: '"status":"completed"',
    piece: /output_text\.delta"[^}]*"delta":"((?:[^"\\]|\\.)*)"/g,
  },
  'generate-content': {
    whole: (answer: string) => {
      const { candidates, usageMetadata } = JSON.parse(answer) as {
        candidates: [WireRecord];
        usageMetadata: WireRecord;
      };
      const parts = recordOf(candidates[0]['content'])['parts'] as readonly WireRecord[];
      return [
        parts[0]?.['text'],
        parts[1] ?? null,
        String(candidates[0]['finishReason']).toLowerCase(),
        usageMetadata['candidatesTokenCount'],
      ];
    },
    end: '"finishReason":"STOP"',
    piece: /"text":"((?:[^"\\]|\\.)*)"/g,
  },
} as const;

describe.each(Object.keys(surfaces) as (keyof typeof surfaces)[])(
  'the answer to callers of %s',
  (surface) => {
    const { whole, end, piece } = told[surface];
    const streamed = (asked: Asked, content: Parameters<typeof frames>[0]) => {
      const translator = ask({ ...asked, stream: true }, surface).translation.openStream();
      const text = frames(content)
        .map((frame) => decoder.decode(translator.frame(frame)))
        .join('');
      return text + decoder.decode(translator.end());
    };
    const textIn = (stream: string) =>
      Array.from(stream.matchAll(piece), ([, text = '']) => JSON.parse(`"${text}"`) as string).join('');

    test('is what the tool was called with, whole', () => {
      const { translation } = ask({}, surface);
      const answer = decoder.decode(translation.whole(message([called({ a: 1 })])));
      expect(whole(answer)).toEqual(['{"a":1}', null, 'stop', 4]);
    });

    test('and streamed, as it comes', () => {
      const stream = streamed({}, [called({ a: 1, b: 2 })]);
      expect(textIn(stream)).toBe('{"a":1,"b":2}');
      expect(stream.match(piece)?.length).toBeGreaterThan(2);
      expect(stream).toContain(end);
      expect(stream).not.toMatch(/"tool_calls":|"function_call"|functionCall/);
    });

    test('is the value, where it is no object', () => {
      const schema = { type: 'array', items: {} };
      const { translation } = ask({ schema }, surface);
      const answer = decoder.decode(translation.whole(message([called({ value: [1, 2] })])));
      expect(whole(answer)[0]).toBe('[1,2]');
      expect(textIn(streamed({ schema }, [called({ value: [1, 2] })]))).toBe('[1,2]');
    });

    test('has no words beside it, which would be no JSON', () => {
      const content = [{ type: 'text', text: 'Here it is:' }, called({ a: 1 })];
      const { translation } = ask({}, surface);
      expect(whole(decoder.decode(translation.whole(message(content))))[0]).toBe('{"a":1}');
      expect(textIn(streamed({}, content))).toBe('{"a":1}');
    });

    test('is the words where the model called nothing', () => {
      const content = [{ type: 'text', text: 'I cannot.' }];
      const { translation } = ask({}, surface);
      expect(whole(decoder.decode(translation.whole(message(content, 'end_turn'))))[0]).toBe('I cannot.');
      expect(textIn(streamed({}, content))).toBe('I cannot.');
    });

    test('is a call of the caller’s own tool where the model preferred that', () => {
      const tools = [look()];
      const { translation } = ask({ tools }, surface);
      const answer = decoder.decode(translation.whole(message([called({}, 'look')])));
      expect(answer).toContain('"look"');
      expect(answer).not.toContain('"answer"');
      expect(streamed({ tools }, [called({}, 'look')])).toContain('"look"');
    });
  },
);

test('a schema that can be held to goes as the form of the words, as before', () => {
  const schema = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] };
  const { body } = ask({ schema });
  expect(body['tools']).toBeUndefined();
  expect(body['output_config']).toMatchObject({ format: { type: 'json_schema' } });
});
