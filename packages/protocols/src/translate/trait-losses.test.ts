import { expect, test } from 'vitest';
import type { Block, Turn } from '../turn.ts';
import { noSettings } from '../turn.ts';
import { type TraitSupport, traitLosses } from './trait-losses.ts';

const nothing: TraitSupport = {
  citations: 'dropped',
  'cache-mark': 'dropped',
  'image-detail': 'dropped',
  filename: 'dropped',
  'media-name': 'dropped',
  'call-seal': 'dropped',
};

const everything: TraitSupport = {
  citations: 'carried',
  'cache-mark': 'carried',
  'image-detail': 'carried',
  filename: 'carried',
  'media-name': 'carried',
  'call-seal': 'carried',
};

function turnOf(surface: Turn['surface'], rest: Partial<Turn>): Turn {
  return {
    surface,
    model: 'm',
    stream: false,
    system: [],
    messages: [],
    tools: [],
    toolChoice: null,
    settings: noSettings,
    spelling: {},
    extensions: [],
    ...rest,
  };
}

function says(...content: readonly Block[]): Partial<Turn> {
  return { messages: [{ role: 'user', content, name: null }] };
}

const text = { kind: 'text', text: 'x', citations: [], cacheTtl: null } as const;
const citation = { url: 'https://example.org', title: null, quote: null, start: null, end: null };
const image = {
  kind: 'media',
  media: 'image',
  mediaType: 'image/png',
  source: { kind: 'base64', data: 'AA==' },
  filename: null,
  detail: null,
  cacheTtl: null,
} as const;
const file = { ...image, media: 'file', filename: 'a.pdf' } as const;
const call = {
  kind: 'tool-call',
  id: 'c',
  name: 'f',
  namespace: null,
  form: 'function',
  input: '{}',
  sealed: { origin: 'native', data: 's', form: 'signature' },
} as const;
const result = { kind: 'tool-result', callId: 'c', isError: false, content: [], cacheTtl: null } as const;
const tool = {
  kind: 'function',
  name: 'f',
  namespace: null,
  description: '',
  parameters: null,
  strict: null,
  cacheTtl: '1h',
} as const;

test.each<[string, Partial<Turn>, readonly string[]]>([
  ['nothing', says(text, image, { ...call, sealed: null }, result), []],
  ['a citation', says({ ...text, citations: [citation] }), ['messages[].annotations']],
  ['a mark on the system', { system: [{ ...text, cacheTtl: '5m' }] }, ['cache_control']],
  ['a mark on a tool', { tools: [tool] }, ['cache_control']],
  ['a mark within a result', says({ ...result, content: [{ ...text, cacheTtl: '5m' }] }), ['cache_control']],
  ['a detail', says({ ...image, detail: 'low' }), ['messages[].content[].image_url.detail']],
  ['a detail that is left to the model', says({ ...image, detail: 'auto' }), []],
  ['the name of a file', says(file), ['messages[].content[].file.filename']],
  ['the name of a text', says({ ...file, source: { kind: 'text', text: 'x' } }), []],
  ['the name of a picture', says({ ...image, filename: 'a.png' }), ['messages[].content[].image_url']],
  ['a seal on a call', says(call), ['messages[].tool_calls[].extra_content']],
  ['a seal of another target', says({ ...call, sealed: { ...call.sealed, origin: 'o' } }), []],
  ['the same twice', says(file, file), ['messages[].content[].file.filename']],
])('%s is told once, in the words of the caller', (_, rest, fields) => {
  const turn = turnOf('chat-completions', rest);
  expect(traitLosses(turn, 'messages', nothing).map(({ field }) => field)).toEqual(fields);
  expect(traitLosses(turn, 'messages', everything)).toEqual([]);
  expect(traitLosses(turn, 'chat-completions', nothing)).toEqual([]);
});

test('each surface has its own word', () => {
  const words = (['responses', 'messages', 'generate-content', 'images'] as const).map(
    (surface) => traitLosses(turnOf(surface, says(file)), 'chat-completions', nothing)[0]?.field,
  );
  expect(words).toEqual([
    'input[].content[].filename',
    'messages[].content[].title',
    'contents[].parts[].displayName',
    'image',
  ]);
});
