import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { keyText, objectText, valueText } from '../bytes/json-text.fixture.ts';
import { concatBytes } from '../bytes/splice.ts';
import { passthroughTarget, requestInput } from '../request/request-input.fixture.ts';
import { defaultDialect, type InboundRequest } from '../request.ts';
import { messages } from './index.ts';
import { requestMembers } from './wire.ts';

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const hello = '"messages":[{"role":"user","content":"hi"}]';

type Headers = Readonly<Record<string, string>>;

const readRequest = (text: string, headers: Headers = {}) =>
  messages.readRequest(requestInput(text, { headers }));

function accept(text: string, headers: Headers = {}): InboundRequest {
  const request = readRequest(text, headers);
  if (!request.ok) throw new Error(request.error.message);
  return request.value;
}

function refusal(text: string, headers: Headers = {}) {
  const request = readRequest(text, headers);
  if (request.ok) throw new Error('the request was taken');
  return request.error;
}

const upstreamOf = (text: string, headers: Headers = {}) =>
  accept(text, headers).passThrough(passthroughTarget('m'));

describe('facts', () => {
  test('of a plain request', () => {
    expect(accept(`{"model":"m","max_tokens":12,${hello}}`).facts).toEqual({
      model: 'm',
      stream: false,
      maxOutputTokens: 12,
      inputTokensEstimate: 19,
      choices: 1,
      needs: new Set(),
    });
  });

  test('a limit may be missing, for the upstream to say so, or zero, to warm a cache', () => {
    expect(accept(`{"model":"m",${hello}}`).facts.maxOutputTokens).toBeNull();
    expect(accept(`{"model":"m","max_tokens":0,${hello}}`).facts.maxOutputTokens).toBe(0);
  });

  test.each([
    ['"tools":[{"name":"t","input_schema":{}}]', ['tools']],
    ['"tools":[]', []],
    ['"output_config":{"effort":"low","format":{"type":"json_schema","schema":{}}}', ['structured-output']],
    ['"output_config":{"effort":"low","format":null}', []],
    ['"output_format":{"type":"json_schema"}', ['structured-output']],
    ['"output_config":7', []],
  ])('needs of %s', (members, needs) => {
    expect([...accept(`{"model":"m",${hello},${members}}`).facts.needs]).toEqual(needs);
  });

  test.each([
    ['{"type":"image","source":{"type":"url","url":"x"}}', ['image-input']],
    ['{"type":"document","source":{}}', ['file-input']],
    ['{"type":"tool_result","content":[{"type":"image"}]}', ['image-input']],
    ['{"type":"text","text":"image"}', []],
  ])('needs of a block %s', (block, needs) => {
    const request = accept(`{"model":"m","messages":[{"role":"user","content":[${block}]}]}`);
    expect([...request.facts.needs]).toEqual(needs);
  });

  test.each([
    ['"container_1"', 'container_1'],
    ['{"id":"container_1","skills":[]}', 'container_1'],
    ['{"skills":[{"type":"anthropic","skill_id":"pptx"}]}', undefined],
    ['null', undefined],
  ])('the container %s is kept upstream as %s', (container, id) => {
    expect(accept(`{"model":"m",${hello},"container":${container}}`).facts.continues).toBe(id);
  });

  test('a thread is kept upstream, and goes on from its last message', () => {
    const factsOf = (thread: string) =>
      accept(`{"model":"m",${hello},"container":"container_1","thread":${thread}}`).facts;
    const going = factsOf('{"type":"continue","previous_message_id":"msg_1"}');
    expect(going).toMatchObject({ kept: true, continues: 'msg_1' });
    expect(going.continuesBeside).toBe('container_1');
    expect(factsOf('{"type":"create"}').continuesBeside).toBeUndefined();
    expect(factsOf('{"type":"create"}')).toMatchObject({ kept: true, continues: 'container_1' });
    expect(factsOf('null').kept).toBeUndefined();
  });

  test.each([
    [`{${hello}}`, 'model'],
    ['{"model":"m"}', 'messages'],
    [`{"model":"m","stream":"yes",${hello}}`, 'stream'],
    [`{"model":"m","max_tokens":1.5,${hello}}`, 'max_tokens'],
    [`{"model":"m","model":"n",${hello}}`, 'model'],
    [`[]`, null],
  ])('%s is refused for its %s', (text, param) => {
    expect(refusal(text)).toMatchObject({ code: 'invalid_request', param });
  });
});

test.each(['{"type":"create"}', '{"type":"continue","previous_message_id":"msg_1"}'])(
  'the thread %s is refused but where channels keep them, and none at all is not',
  (thread) => {
    const keeping = passthroughTarget('m', { dialect: { ...defaultDialect, threads: true } });
    const request = accept(`{"model":"m",${hello},"thread":${thread}}`);
    expect(request.refuse?.(passthroughTarget('m'))).toMatchObject({
      code: 'thread_unsupported_request',
      status: 400,
      param: 'thread',
    });
    expect(request.refuse?.(keeping)).toBeNull();
    expect(accept(`{"model":"m",${hello},"thread":null}`).refuse?.(passthroughTarget('m'))).toBeNull();
  },
);

describe('a request to count tokens', () => {
  const counted = (path: string, search = '') => {
    const body = `{"model":"m","stream":true,"max_tokens":9,${hello}}`;
    const request = messages.readRequest(requestInput(body, { work: 'count', search }));
    if (!request.ok) throw new Error(request.error.message);
    return { facts: request.value.facts, sent: request.value.passThrough(passthroughTarget('m', { path })) };
  };

  test('writes nothing, whatever limit it has', () => {
    expect(counted('/messages').facts).toMatchObject({ stream: false, maxOutputTokens: 0 });
  });

  test.each([
    ['/messages', '', '/messages/count_tokens'],
    ['/messages', '?beta=true&x=1', '/messages/count_tokens?beta=true'],
    ['/messages?version=1', '?beta=true', '/messages/count_tokens?version=1&beta=true'],
  ])('goes below %s%s', (path, search, expected) => {
    expect(counted(path, search).sent.path).toBe(expected);
  });
});

describe('headers', () => {
  const body = `{"model":"m",${hello}}`;

  test("the channel's version stands in for one the caller does not name", () => {
    expect(upstreamOf(body).headers).toEqual(['anthropic-version', '2023-06-01']);
    const dialect = { ...defaultDialect, messagesVersion: '2026-10-21' };
    const { headers } = accept(body).passThrough(passthroughTarget('m', { dialect }));
    expect(headers).toEqual(['anthropic-version', '2026-10-21']);
  });

  test.each(['neutral-version', 'anthropic-version'])('%s goes upstream as sent', (name) => {
    expect(upstreamOf(body, { [name]: '2031-01-01' }).headers).toEqual(['anthropic-version', '2031-01-01']);
  });

  test.each(['neutral-version', 'anthropic-version'])(
    'a %s that is no date is refused by its name',
    (name) => {
      for (const version of ['', '2023', 'v1', '2023-06-01 ', '2023-6-1', 'vertex-2023-10-16']) {
        expect(refusal(body, { [name]: version })).toMatchObject({ code: 'invalid_request', param: name });
      }
    },
  );

  test('betas of both names go upstream, known or not', () => {
    const headers = { 'neutral-beta': 'one-2026-01-01', 'anthropic-beta': 'two, unheard-of' };
    expect(upstreamOf(body, headers).headers.slice(2)).toEqual([
      'anthropic-beta',
      'one-2026-01-01,two, unheard-of',
    ]);
  });
});

describe('the body', () => {
  test('is the same array when nothing needs to change', () => {
    const body = encoder.encode(`{"model":"m",${hello}}`);
    const request = messages.readRequest(requestInput(body));
    if (!request.ok) throw new Error(request.error.message);
    const encoded = request.value.passThrough(passthroughTarget('m'));
    expect(encoded.body[0]).toBe(body);
    expect(encoded.edits).toEqual([]);
  });

  const unknown = fc.tuple(
    keyText.filter((key) => !requestMembers.some((name) => key.toLowerCase() === `"${name}"`)),
    valueText,
  );
  const body = fc
    .array(unknown, { maxLength: 4 })
    .chain((members) =>
      fc.shuffledSubarray(
        [
          ['"model"', '"alias"'] as const,
          ['"messages"', '[{"role":"system","content":"x"}]'] as const,
          ...members,
        ],
        {
          minLength: members.length + 2,
        },
      ),
    )
    .chain(objectText);

  test('changes in nothing but the alias, whatever else it has', () => {
    fc.assert(
      fc.property(body, (text) => {
        const encoded = upstreamOf(text);
        expect(encoded.edits).toEqual(['model']);
        expect(decoder.decode(concatBytes(encoded.body))).toBe(text.replace('"alias"', '"m"'));
      }),
    );
  });
});
