import { describe, expect, test } from 'vitest';
import { fullBody, look, readBody } from './codec.fixture.ts';

describe('settings', () => {
  test.each([
    [{ max_tokens: 5 }, { maxOutputTokens: 5 }, { maxOutputTokens: 'max_tokens' }],
    [
      { max_tokens: 5, max_completion_tokens: 6 },
      { maxOutputTokens: 6 },
      { maxOutputTokens: 'max_completion_tokens' },
    ],
    [{ stop: 'x' }, { stop: ['x'] }, {}],
    [{ logprobs: true }, { logprobs: 0 }, {}],
    [{ top_logprobs: 3 }, { logprobs: null }, {}],
    [{ safety_identifier: 's', user: 'u' }, { user: 's' }, { user: 'safety_identifier' }],
    [{ service_tier: 'fast' }, { serviceTier: 'priority' }, {}],
    [{ response_format: { type: 'json_object' } }, { outputFormat: { kind: 'json' } }, {}],
    [
      { reasoning: { effort: 'high', exclude: true } },
      { reasoning: { effort: 'high', budgetTokens: null, shown: false } },
      { reasoning: 'reasoning' },
    ],
    [
      { reasoning: { max_tokens: 9 } },
      { reasoning: { effort: null, budgetTokens: 9, shown: null } },
      { reasoning: 'reasoning' },
    ],
    [
      { reasoning: { enabled: false } },
      { reasoning: { effort: 'none', budgetTokens: null, shown: null } },
      {},
    ],
    [
      { thinking: { type: 'disabled' } },
      { reasoning: { effort: 'none', budgetTokens: null, shown: null } },
      { reasoning: 'thinking' },
    ],
    [
      { thinking: { type: 'enabled', budget_tokens: 2_000 } },
      { reasoning: { effort: null, budgetTokens: 2_000, shown: null } },
      {},
    ],
    [{ functions: [{ name: 'f' }] }, { parallelToolCalls: false }, { parallelToolCalls: 'functions' }],
  ])('%j', (body, settings, spelling) => {
    expect(readBody(body)).toMatchObject({ settings, spelling });
  });

  test('what is null is not set', () => {
    const nulls = Object.keys(fullBody).filter((name) => name !== 'messages' && name !== 'model');
    const turn = readBody(Object.fromEntries(nulls.map((name) => [name, null])));
    expect(new Set(Object.values(turn.settings))).toEqual(new Set([null]));
    expect(turn.extensions).toEqual([]);
  });
});

describe('tools', () => {
  test.each([
    [{ tool_choice: 'required' }, { kind: 'required' }],
    [{ tool_choice: { type: 'function', function: { name: 'look' } } }, { kind: 'named', name: 'look' }],
    [{ tool_choice: { type: 'custom', custom: { name: 'run' } } }, { kind: 'named', name: 'run' }],
    [{ function_call: { name: 'look' } }, { kind: 'named', name: 'look' }],
    [{ function_call: 'none' }, { kind: 'none' }],
  ])('%j', (body, toolChoice) => {
    expect(readBody({ ...body, tools: [look] })).toMatchObject({ toolChoice });
  });

  test('functions of old are tools', () => {
    const { tools } = readBody({ functions: [{ name: 'f', description: 'd', parameters: {} }] });
    expect(tools).toMatchObject([
      { kind: 'function', name: 'f', description: 'd', parameters: {}, strict: null },
    ]);
  });

  test.each([
    [{ tools: [look, { type: 'web_search' }] }, [{ field: 'tools[].web_search', elsewhere: 'drop' }]],
    [{ tools: [{ type: 'web_search' }] }, [{ field: 'tools[].web_search', elsewhere: 'refuse' }]],
    [{ tools: [look], web_search_options: {} }, [{ field: 'web_search_options', elsewhere: 'drop' }]],
    [
      { web_search_options: { search_context_size: 'low' } },
      [{ field: 'web_search_options', elsewhere: 'refuse' }],
    ],
    [
      { tools: [look, { type: 'a b' }], tool_choice: 'required' },
      [{ field: 'tools[].other', elsewhere: 'refuse' }],
    ],
  ])('tools the server would run: %j', (body, extensions) => {
    expect(readBody(body).extensions).toEqual(extensions);
  });
});
