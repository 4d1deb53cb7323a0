import { describe, expect, test } from 'vitest';
import { messagesSurface } from '../messages/wire.ts';
import { type ProtocolId, protocolIds, protocols } from '../protocols.ts';
import { type Dialect, defaultDialect } from '../request.ts';
import { responsesSurface } from '../responses/wire.ts';
import type { ReasoningBlock, Surface, Turn } from '../turn.ts';
import { leastLossFirst } from './least-loss.ts';
import { text, turnOf } from './turn.fixture.ts';

const own = { ...defaultDialect, chatVocabulary: 'own' } as const;

/** The protocols of one target, in the order in which requests of it would be tried. */
function order(
  turn: Turn,
  spoken: readonly ProtocolId[],
  { dialect = defaultDialect, reasoning = false }: { dialect?: Dialect; reasoning?: boolean | 'asked' } = {},
): readonly ProtocolId[] {
  const ways = protocolIds
    .filter((id) => spoken.includes(id))
    .flatMap((id) => {
      const { codec } = protocols[id];
      const about = { upstreamModel: 'm', path: '/', dialect, maxOutputTokens: null, reasoning };
      return codec === null ? [] : [{ id, codec, target: { ...about, origin: `of-${id}` } }];
    });
  return leastLossFirst(turn, ways).map(({ id }) => id);
}

const openApi = ['chat-completions', 'responses'] as const;
const everything = ['chat-completions', 'responses', 'messages', 'generate-content'] as const;

describe('of two endpoints of one target', () => {
  const cases: readonly [string, Parameters<typeof turnOf>[0], 'responses' | 'chat-completions'][] = [
    ['nothing special', {}, 'responses'],
    ['a stop sequence', { settings: { stop: ['END'] } }, 'chat-completions'],
    ['no stop sequence in its list', { settings: { stop: [] } }, 'responses'],
    ['a seed', { settings: { seed: 7 } }, 'chat-completions'],
    ['a penalty', { settings: { presencePenalty: 0.5 } }, 'chat-completions'],
    ['a penalty of nothing', { settings: { frequencyPenalty: 0 } }, 'responses'],
    ['a user and a key of a cache', { settings: { user: 'u', promptCacheKey: 'k' } }, 'responses'],
    ['a verbosity', { settings: { verbosity: 'low' } }, 'responses'],
    ['a temperature', { settings: { temperature: 0.3 } }, 'responses'],
    ['a seed and a user', { settings: { seed: 7, user: 'u' } }, 'chat-completions'],
  ];
  test.each(cases)('a request with %s goes by the one that loses least', (_, asked, first) => {
    expect(order(turnOf(asked), openApi)[0]).toBe(first);
  });
});

test('a model that thinks is asked where its thoughts come back, though a seed is lost there', () => {
  const turn = turnOf({ settings: { seed: 7 } });
  expect(order(turn, openApi, { dialect: own })[0]).toBe('chat-completions');
  expect(order(turn, openApi, { dialect: own, reasoning: true })[0]).toBe('responses');
  // It does not think unless it is asked to.
  expect(order(turn, openApi, { dialect: own, reasoning: 'asked' })[0]).toBe('chat-completions');
  const effort = { effort: 'high', budgetTokens: null, shown: null } as const;
  const asked = turnOf({ settings: { seed: 7, reasoning: effort } });
  expect(order(asked, openApi, { dialect: own, reasoning: 'asked' })[0]).toBe('responses');
});

test('a schema goes where it means what it means, and where its answer can be held to it', () => {
  const asked = (schema: object, surface: Surface) => {
    const outputFormat = {
      kind: 'json-schema',
      name: 'x',
      description: null,
      schema: { ...schema },
      strict: true,
    } as const;
    return turnOf({ surface, settings: { outputFormat } });
  };
  const map = { type: 'object', additionalProperties: { type: 'string' } };
  const plain = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] };
  const endless = { type: 'object', properties: { a: { $ref: '#' } }, required: ['a'] };
  const both = ['messages', 'chat-completions'] as const;
  expect(order(asked(map, responsesSurface), both)[0]).toBe('chat-completions');
  expect(order(asked(plain, responsesSurface), both)[0]).toBe('messages');
  expect(order(asked(map, messagesSurface), ['responses', 'generate-content'])[0]).toBe('generate-content');
  expect(order(asked(endless, messagesSurface), ['generate-content', 'chat-completions'])[0]).toBe(
    'chat-completions',
  );
});

test('cache marks go where they are known', () => {
  const marked = { ...text('long'), cacheTtl: '5m' as const };
  const turn = turnOf({ messages: [{ role: 'user', content: [marked], name: null }] });
  expect(order(turn, everything)[0]).toBe('messages');
  expect(order(turnOf(), everything)[0]).toBe('responses');
});

describe('a session whose thoughts are sealed', () => {
  const sealedBy = (origin: string): Turn => {
    const thought: ReasoningBlock = {
      kind: 'reasoning',
      text: '',
      sealed: { origin, data: 'x', form: 'signature' },
    };
    const messages = [{ role: 'assistant', content: [thought, text('so')], name: null }] as const;
    return turnOf({ messages, settings: { seed: 1, presencePenalty: 1 } });
  };

  test('stays with the protocol that sealed them', () => {
    expect(order(sealedBy('of-responses'), openApi)).toEqual(['responses', 'chat-completions']);
    expect(order(sealedBy('of-chat-completions'), openApi)).toEqual(['chat-completions', 'responses']);
  });

  test('by another target, goes where it loses least', () => {
    expect(order(sealedBy('of-another'), openApi)).toEqual(['chat-completions', 'responses']);
    expect(order(sealedBy('native'), openApi)).toEqual(['chat-completions', 'responses']);
  });

  test('leaves a protocol that cannot be told what is asked now', () => {
    const { messages } = sealedBy('of-responses');
    expect(order(turnOf({ messages, settings: { stop: ['END'] } }), openApi)[0]).toBe('chat-completions');
  });
});
