import { describe, expect, test } from 'vitest';
import { defaultDialect } from '../../inbound-request.ts';
import type { Settings } from '../../turn.ts';
import { ownTarget, refusedField, targetOf, text, turnOf, user, written } from './codec.fixture.ts';
import { schemaName } from './turn-writing.ts';

describe('settings', () => {
  const settingsOf = (settings: Partial<Settings>, target = targetOf()) => {
    const { body, losses } = written(turnOf({ settings }), target);
    const { model: _, messages: _messages, ...rest } = body;
    return { rest, losses: losses.map(({ field, action }) => `${field} ${action}`) };
  };
  const noThought = { effort: 'none', budgetTokens: null, shown: null } as const;

  test.each<[Partial<Settings>, object, string[]]>([
    [{ maxOutputTokens: 9 }, { max_tokens: 9 }, []],
    [{ stop: ['a', 'b', 'c', 'd', 'e'] }, { stop: ['a', 'b', 'c', 'd'] }, ['stop changed']],
    [{ stop: [] }, {}, []],
    [
      { topK: 3, verbosity: 'low', promptCacheKey: 'k', serviceTier: 'flex', metadata: {} },
      {},
      [
        'topK dropped',
        'verbosity dropped',
        'serviceTier dropped',
        'promptCacheKey dropped',
        'metadata dropped',
      ],
    ],
    [{ logprobs: 2, temperature: 0.3, seed: 1 }, { temperature: 0.3, seed: 1 }, ['logprobs dropped']],
    [
      { reasoning: { effort: null, budgetTokens: 8_000, shown: true } },
      { reasoning_effort: 'medium' },
      ['reasoning changed'],
    ],
    [{ reasoning: { effort: null, budgetTokens: null, shown: true } }, {}, []],
    [{ outputFormat: { kind: 'text' } }, { response_format: { type: 'text' } }, []],
    [{ user: 'u' }, {}, ['user dropped']],
    [{ choices: 1 }, {}, []],
  ])('%j', (settings, rest, losses) => {
    expect(settingsOf(settings)).toEqual({ rest, losses });
  });

  test.each<[Partial<Settings>, object, string[]]>([
    [
      { maxOutputTokens: 9, verbosity: 'low', serviceTier: 'flex' },
      { max_completion_tokens: 9, verbosity: 'low', service_tier: 'flex' },
      [],
    ],
    [{ temperature: 1, topP: 1 }, {}, []],
    [
      { temperature: 0, topP: 0.5, presencePenalty: 1 },
      {},
      ['temperature dropped', 'topP dropped', 'presencePenalty dropped'],
    ],
    [
      { temperature: 0, stop: ['x'], reasoning: noThought },
      { temperature: 0, stop: ['x'], reasoning_effort: 'none' },
      [],
    ],
  ])('at the inventors’ models that think: %j', (settings, rest, losses) => {
    expect(settingsOf(settings, ownTarget)).toEqual({ rest, losses });
  });

  test('a model that does not think is not asked to', () => {
    const target = targetOf({ reasoning: false });
    expect(settingsOf({ reasoning: noThought }, target)).toEqual({ rest: {}, losses: [] });
    const effort = { effort: 'high', budgetTokens: null, shown: null } as const;
    expect(settingsOf({ reasoning: effort }, target)).toEqual({ rest: {}, losses: ['reasoning dropped'] });
  });

  test.each([
    ['max_tokens', { max_tokens: 9 }],
    ['max_completion_tokens', { max_completion_tokens: 9 }],
  ] as const)('the limit is %s where no other word is known', (maxTokensField, rest) => {
    for (const chatVocabulary of ['own', 'common'] as const) {
      const target = targetOf({ dialect: { ...defaultDialect, maxTokensField, chatVocabulary } });
      expect(settingsOf({ maxOutputTokens: 9 }, target).rest).toEqual(rest);
    }
  });

  test.each<[Partial<Settings>, ReturnType<typeof targetOf>, string]>([
    [{ choices: 2 }, targetOf(), 'choices'],
    [{ stop: ['x'] }, ownTarget, 'stop'],
  ])('%j is refused', (settings, target, field) => {
    expect(refusedField(turnOf({ settings }), target)).toBe(field);
  });

  test('what is refused has the caller’s name', () => {
    const turn = turnOf({ settings: { choices: 2 }, spelling: { choices: 'candidateCount' } });
    expect(refusedField(turn)).toBe('candidateCount');
  });

  test('a user that is too long to be sent is shortened, always to the same', () => {
    const user = JSON.stringify({ device: 'd'.repeat(90) });
    const first = settingsOf({ user }, ownTarget);
    expect(first.rest['user']).toMatch(/^[\w-]{1,64}$/);
    expect(first).toEqual(settingsOf({ user }, ownTarget));
    expect(first.losses).toEqual(['user changed']);
  });

  test('JSON is asked for in words, too, where nobody has', () => {
    const outputFormat = { kind: 'json' } as const;
    expect(written(turnOf({ settings: { outputFormat } })).body).toMatchObject({
      messages: [{ role: 'system', content: 'Answer in JSON.' }, {}],
      response_format: { type: 'json_object' },
    });
    const asked = turnOf({ settings: { outputFormat }, messages: [user(text('As Json, please.'))] });
    expect(written(asked).body['messages']).toEqual([{ role: 'user', content: 'As Json, please.' }]);
  });

  test('a schema of another protocol is enforced where it can be', () => {
    const json_schema = (schema: object) => {
      const outputFormat = {
        kind: 'json-schema',
        name: 'an answer',
        description: null,
        schema: { ...schema },
        strict: null,
      } as const;
      return settingsOf({ outputFormat });
    };
    expect(schemaName('an answer')).toMatch(/^[\w-]{1,64}$/);
    const closed = { type: 'object', properties: {}, required: [], additionalProperties: false };
    expect(json_schema({ type: 'object' })).toMatchObject({
      rest: {
        response_format: {
          json_schema: { name: schemaName('an answer'), schema: closed, strict: true },
        },
      },
      losses: [],
    });
    const open = { type: 'object', properties: { a: { type: 'string' } } };
    expect(json_schema(open)).toMatchObject({
      rest: { response_format: { json_schema: { schema: open, strict: false } } },
      losses: ['outputFormat changed'],
    });
  });
});
