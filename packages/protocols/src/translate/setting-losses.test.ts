import { describe, expect, test } from 'vitest';
import { noSettings, type SettingName, type Settings, type Turn } from '../turn.ts';
import { extensionLosses } from './extension-losses.ts';
import { type SettingSupport, settingLosses } from './setting-losses.ts';

function turnWith(settings: Partial<Settings>, rest: Partial<Turn> = {}): Turn {
  const empty = { system: [], messages: [], tools: [], toolChoice: null, spelling: {}, extensions: [] };
  return {
    surface: 'chat-completions',
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

function everywhere(support: SettingSupport[SettingName]): SettingSupport {
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

  test.each<Partial<Settings>>([
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
    expect(extensionLosses(turn, 'messages')).toMatchObject({ ok: true, value: [{ field: 'store' }] });
    expect(extensionLosses(turn, 'chat-completions')).toEqual({ ok: true, value: [] });
  });

  test('that change the answer are refused by their name', () => {
    const turn = turnWith({}, { extensions: [...extensions, { field: 'prediction', elsewhere: 'refuse' }] });
    expect(extensionLosses(turn, 'messages')).toMatchObject({ ok: false, error: { param: 'prediction' } });
  });
});
