import { describe, expect, test } from 'vitest';
import { chatSurface } from '../chat-completions/wire.ts';
import { generateContentSurface } from '../generate-content/wire.ts';
import { messagesSurface } from '../messages/wire.ts';
import { responsesSurface } from '../responses/wire.ts';
import { type Block, noSettings, type Turn, type TurnSettingName, type TurnSettings } from '../turn.ts';
import {
  extensionLosses,
  type SettingSupport,
  settingLosses,
  type TraitSupport,
  traitLosses,
} from './losses.ts';

function turnWith(settings: Partial<TurnSettings>, rest: Partial<Turn> = {}): Turn {
  const empty = { system: [], messages: [], tools: [], toolChoice: null, spelling: {}, extensions: [] };
  return {
    surface: chatSurface,
    model: 'm',
    stream: false,
    settings: { ...noSettings, ...settings },
    ...empty,
    ...rest,
  };
}

function supporting(deviations: Partial<SettingSupport>): SettingSupport {
  return { ...everywhere('carried'), ...deviations };
}

function everywhere(support: SettingSupport[TurnSettingName]): SettingSupport {
  const names = Object.keys(noSettings).map((name) => [name, support] as const);
  return Object.fromEntries(names) as SettingSupport; // The keys are those of all settings.
}

describe('settings', () => {
  test('that are dropped are named as the caller spells them', () => {
    const turn = turnWith({ seed: 7, topK: 3 }, { spelling: { topK: 'top_k' } });
    const losses = settingLosses(turn, supporting({ seed: 'dropped', topK: 'dropped', user: 'dropped' }));
    expect(losses.ok && losses.value.map(({ field }) => field)).toEqual(['top_k', 'seed']);
  });

  test('that are refused are a 400 that names them', () => {
    const refused = settingLosses(
      turnWith({ choices: 2 }, { spelling: { choices: 'n' } }),
      supporting({ choices: 'refused' }),
    );
    expect(refused).toMatchObject({ ok: false, error: { code: 'invalid_request', status: 400, param: 'n' } });
  });

  test.each<Partial<TurnSettings>>([
    { choices: 1 },
    { outputFormat: { kind: 'text' } },
    { stop: [] },
    { presencePenalty: 0, frequencyPenalty: 0 },
    { parallelToolCalls: true },
    { serviceTier: 'auto' },
    {},
  ])('%j asks for nothing', (settings) => {
    expect(settingLosses(turnWith(settings), everywhere('refused'))).toEqual({
      ok: true,
      value: [],
    });
  });
});

describe('extensions', () => {
  const extensions = [{ field: 'store', elsewhere: 'drop' as const }];
  test('are lost elsewhere and kept at home', () => {
    const turn = turnWith({}, { extensions });
    expect(extensionLosses(turn, messagesSurface)).toMatchObject({ ok: true, value: [{ field: 'store' }] });
    expect(extensionLosses(turn, chatSurface)).toEqual({ ok: true, value: [] });
  });

  test('that change the answer are refused by their name', () => {
    const turn = turnWith({}, { extensions: [...extensions, { field: 'prediction', elsewhere: 'refuse' }] });
    expect(extensionLosses(turn, messagesSurface)).toMatchObject({
      ok: false,
      error: { param: 'prediction' },
    });
  });
});

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
  const turn = turnOf(chatSurface, rest);
  expect(traitLosses(turn, messagesSurface, nothing).map(({ field }) => field)).toEqual(fields);
  expect(traitLosses(turn, messagesSurface, everything)).toEqual([]);
  expect(traitLosses(turn, chatSurface, nothing)).toEqual([]);
});

test('each surface has its own word', () => {
  const words = [responsesSurface, messagesSurface, generateContentSurface].map(
    (surface) => traitLosses(turnOf(surface, says(file)), chatSurface, nothing)[0]?.field,
  );
  expect(words).toEqual([
    'input[].content[].filename',
    'messages[].content[].title',
    'contents[].parts[].displayName',
  ]);
});
