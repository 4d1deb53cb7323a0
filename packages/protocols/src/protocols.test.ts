import { describe, expect, test } from 'vitest';
import { EndpointTable } from './endpoint.ts';
import type { ProtocolOf } from './protocol.ts';
import { ProtocolTable, protocolIds, protocols, smallestCall, upstreamProtocolsOf } from './protocols.ts';
import { defaultDialect } from './request.ts';

const decoder = new TextDecoder();

describe('a new protocol is a folder and a line', () => {
  const sixth: ProtocolOf<'sixth'> = {
    ...protocols.responses,
    id: 'sixth',
    platform: 'messages',
    endpoints: [
      { method: 'POST', path: '/v1/sixth', kind: 'call' },
      { method: 'POST', path: '/v1/models/{model}:sing', kind: 'call' },
    ],
    territory: /^\/v1\/sixth(\/|$)/,
    smallestRequest: { outputTokens: 2, body: (model) => ({ sixth: model }) },
    headersFor: () => ['x-sixth', 'yes'],
  };
  const spoken = [...Object.values(protocols), sixth];
  const endpoints = new EndpointTable<string>(spoken);
  const table = new ProtocolTable<string>(spoken);

  test('its paths are served, for the keys of its platform and in their shape', () => {
    expect(endpoints.match('POST', '/v1/sixth')).toMatchObject({
      kind: 'match',
      endpoint: { kind: 'call', protocol: 'sixth', platform: 'messages', takesForms: false },
    });
    expect(endpoints.match('POST', '/v1/models/m:sing')).toMatchObject({
      endpoint: { protocol: 'sixth' },
      params: { model: 'm', action: 'sing' },
    });
    expect(endpoints.match('GET', '/v1/sixth')).toEqual({ kind: 'method-not-allowed', allow: ['POST'] });
    expect(endpoints.callProtocols('messages')).toEqual(['messages', 'sixth']);
    expect(endpoints.platformOf('/v1/sixth/unknown')).toBe('messages');
  });

  test('its callers are served in other protocols, and those of others in it', () => {
    expect(table.ids).toContain('sixth');
    expect(table.upstreamProtocolsOf('sixth', { 'chat-completions': '/c', sixth: '/s' })).toEqual(['sixth']);
    expect(table.upstreamProtocolsOf('sixth', { 'chat-completions': '/c' })).toEqual(['chat-completions']);
    expect(table.upstreamProtocolsOf('messages', { sixth: '/s' })).toEqual(['sixth']);
    expect(table.upstreamProtocolsOf('images', { sixth: '/s' })).toEqual([]);
  });

  test('its upstreams are probed in it, with its headers', () => {
    const call = table.smallestCall({ sixth: '/s/{model}' }, 'm', defaultDialect);
    expect(call).toMatchObject({ protocol: 'sixth', path: '/s/m', contentType: 'application/json' });
    expect(call?.headers).toEqual(['x-sixth', 'yes']);
    expect(JSON.parse(decoder.decode(call?.body[0]))).toEqual({ sixth: 'm' });
    expect(table.readingHeaders({ sixth: '/s' }, defaultDialect)).toContain('x-sixth');
    expect(table.smallestProtocol({ sixth: '/s', 'chat-completions': '/c' })).toBe('chat-completions');
  });
});

test('every protocol stands under its own id', () => {
  expect(Object.entries(protocols).map(([id, protocol]) => id === protocol.id)).not.toContain(false);
  expect(protocolIds).toEqual(Object.keys(protocols));
});

test('an upstream is asked in the caller’s protocol alone if it speaks that, and else in any that can be translated to', () => {
  const all = Object.fromEntries(protocolIds.map((id) => [id, '/']));
  for (const id of protocolIds) expect(upstreamProtocolsOf(id, all)).toEqual([id]);
  const { responses: _, ...others } = all;
  expect(upstreamProtocolsOf('responses', others)).toEqual([
    'messages',
    'generate-content',
    'chat-completions',
  ]);
  expect(upstreamProtocolsOf('images', others)).toEqual(['images']);
  expect(upstreamProtocolsOf('messages', { images: '/' })).toEqual([]);
});

test.each([
  [protocolIds, 'chat-completions', { max_completion_tokens: 1 }],
  [['responses', 'generate-content'], 'generate-content', { generationConfig: { maxOutputTokens: 1 } }],
  [['responses', 'messages'], 'messages', { max_tokens: 1, model: 'm' }],
  [['responses', 'images'], 'responses', { max_output_tokens: 16 }],
])('the smallest call of an upstream that speaks %j is one of %s', (ids, protocol, body) => {
  const call = smallestCall(Object.fromEntries(ids.map((id) => [id, '/{model}'])), 'm', defaultDialect);
  expect(call?.protocol).toBe(protocol);
  expect(JSON.parse(decoder.decode(call?.body[0]))).toMatchObject(body);
});

test.each([
  ['none', ['high'], {}, { max_completion_tokens: 1 }],
  ['unknown', null, {}, { max_completion_tokens: 1 }],
  ['always', ['high', 'minimal', 'low'], {}, { max_completion_tokens: 1_024, reasoning_effort: 'minimal' }],
  ['optional', ['none', 'high'], {}, { max_completion_tokens: 1_024, reasoning_effort: 'none' }],
  ['optional', null, {}, { max_completion_tokens: 1_024 }],
  ['optional', ['high'], { thoughtSwitch: 'thinking' }, { thinking: { type: 'disabled' } }],
  ['optional', null, { thoughtSwitch: 'enable_thinking' }, { enable_thinking: false }],
  [
    'optional',
    ['high'],
    { thoughtSwitch: 'none' },
    { max_completion_tokens: 1_024, reasoning_effort: 'none' },
  ],
  ['always', ['low'], { thoughtSwitch: 'thinking' }, { reasoning_effort: 'low' }],
] as const)(
  'the smallest call of a model that thinks (%s, %j) is one that it answers',
  (mode, efforts, dialect, body) => {
    const reasoning = { mode, efforts, defaultEffort: null, budget: null };
    const known = { reasoning, parameters: {}, inputModalities: null };
    const call = smallestCall({ 'chat-completions': '/' }, 'm', { ...defaultDialect, ...dialect }, known);
    const {
      model: _,
      messages: __,
      ...sent
    } = JSON.parse(decoder.decode(call?.body[0])) as Record<string, unknown>;
    expect(sent).toEqual({ max_completion_tokens: 1_024, ...body });
  },
);

test('where images alone are made, nothing is asked for next to nothing', () => {
  expect(smallestCall({ images: '/' }, 'm', defaultDialect)).toBeNull();
});
