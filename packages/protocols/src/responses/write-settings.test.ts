import { describe, expect, test } from 'vitest';
import { defaultDialect } from '../request.ts';
import { targetOf, turnOf, written } from './codec.fixture.ts';
import { responsesCodec } from './index.ts';

describe('settings', () => {
  const schema = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] };

  test('are said in this protocol’s words', () => {
    const settings = {
      maxOutputTokens: 100,
      reasoning: { effort: 'high', budgetTokens: null, shown: true },
      outputFormat: { kind: 'json-schema', name: null, description: 'D', schema, strict: null },
      verbosity: 'low',
      user: 'u',
      serviceTier: 'flex',
      promptCacheKey: 'k',
      metadata: { a: 'b' },
    } as const;
    const { body, losses } = written(turnOf({ settings }));
    expect(losses).toEqual([]);
    expect(body).toMatchObject({
      max_output_tokens: 100,
      reasoning: { effort: 'high', summary: 'auto' },
      text: {
        format: {
          type: 'json_schema',
          name: 'response',
          description: 'D',
          schema: { ...schema, additionalProperties: false },
          strict: true,
        },
        verbosity: 'low',
      },
      safety_identifier: 'u',
      service_tier: 'flex',
      prompt_cache_key: 'k',
      metadata: { a: 'b' },
    });
  });

  test.each([
    [{ maxOutputTokens: 5 }, { max_output_tokens: 16 }, ['max_tokens']],
    [
      { reasoning: { effort: null, budgetTokens: 4096, shown: null } },
      { reasoning: { effort: 'low' } },
      ['thinking'],
    ],
    [{ metadata: { a: 'x'.repeat(600) } }, {}, ['metadata']],
    [{ seed: 1, topK: 4, presencePenalty: 1 }, {}, ['topK', 'seed', 'presencePenalty']],
  ])('%j', (settings, members, lost) => {
    const spelling = { maxOutputTokens: 'max_tokens', reasoning: 'thinking' };
    const { body, losses } = written(turnOf({ settings, spelling }));
    expect(body).toMatchObject(members);
    expect(losses.map(({ field }) => field)).toEqual(lost);
  });

  test.each([
    [
      { reasoning: true, dialect: { ...defaultDialect, chatVocabulary: 'own' as const } },
      {},
      ['temperature', 'topP'],
    ],
    [
      { reasoning: 'asked' as const, dialect: { ...defaultDialect, chatVocabulary: 'own' as const } },
      { temperature: 0.5, top_p: 0.9 },
      [],
    ],
    [{ reasoning: true }, { temperature: 0.5, top_p: 0.9 }, []],
    [{ reasoning: false }, { temperature: 0.5, top_p: 0.9 }, []],
  ])('that steer sampling at %j', (target, members, lost) => {
    const { body, losses } = written(turnOf({ settings: { temperature: 0.5, topP: 0.9 } }), targetOf(target));
    expect(body).toMatchObject(members);
    expect('temperature' in body).toBe('temperature' in members);
    expect(losses.map(({ field }) => field)).toEqual(lost);
  });

  test('that ask for what happens anyway are no loss', () => {
    const own = { ...defaultDialect, chatVocabulary: 'own' as const };
    const settings = {
      temperature: 1,
      topP: 1,
      reasoning: { effort: null, budgetTokens: null, shown: null },
    };
    const { body, losses } = written(turnOf({ settings }), targetOf({ dialect: own }));
    expect(losses).toEqual([]);
    for (const name of ['temperature', 'top_p', 'reasoning']) expect(body).not.toHaveProperty(name);
    const none = { effort: 'none', budgetTokens: null, shown: null } as const;
    expect(written(turnOf({ settings: { reasoning: none } }), targetOf({ reasoning: false })).losses).toEqual(
      [],
    );
    expect(written(turnOf({ settings: { reasoning: none } })).body['reasoning']).toEqual({ effort: 'none' });
  });

  test('of thinking are lost on a model that does not think', () => {
    const reasoning = { effort: 'high', budgetTokens: null, shown: true } as const;
    const { body, losses } = written(turnOf({ settings: { reasoning } }), targetOf({ reasoning: false }));
    expect(body).not.toHaveProperty('reasoning');
    expect(losses).toMatchObject([{ field: 'reasoning', action: 'dropped' }]);
  });

  test.each([
    [{ stop: ['END'] }, 'stop'],
    [{ choices: 2 }, 'choices'],
  ])('%j is refused', (settings, param) => {
    const refused = responsesCodec.writeTurn(turnOf({ settings }), targetOf());
    expect(refused).toMatchObject({ ok: false, error: { code: 'invalid_request', param } });
  });

  test('what only the caller’s protocol has is lost or refused', () => {
    const lost = { field: 'betas', elsewhere: 'drop' } as const;
    expect(written(turnOf({ extensions: [lost] })).losses).toMatchObject([{ field: 'betas' }]);
    const refused = turnOf({ extensions: [lost, { field: 'container', elsewhere: 'refuse' }] });
    expect(responsesCodec.writeTurn(refused, targetOf())).toMatchObject({
      ok: false,
      error: { param: 'container' },
    });
  });
});
