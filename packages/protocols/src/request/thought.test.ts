import { expect, test } from 'vitest';
import { type ProtocolId, protocols } from '../protocols.ts';
import { requestInput } from './request-input.fixture.ts';

function thoughtOf(protocol: ProtocolId, members: object) {
  const messages = [{ role: 'user', content: 'hi' }];
  const content = {
    'chat-completions': { messages },
    responses: { input: 'hi' },
    messages: { messages, max_tokens: 9 },
    'generate-content': { contents: [{ parts: [{ text: 'hi' }] }] },
    images: { prompt: 'hi' },
  };
  const body = new TextEncoder().encode(JSON.stringify({ model: 'm', ...content[protocol], ...members }));
  const params = { model: 'm', action: 'generateContent' };
  const read = protocols[protocol].readRequest({ ...requestInput(body), params });
  if (!read.ok) throw new Error(read.error.message);
  return read.value.facts.thought;
}

const native = (thinkingConfig: object) => ({ generationConfig: { thinkingConfig } });

test.each<[ProtocolId, object, 'some' | 'none' | undefined]>([
  ['chat-completions', {}, undefined],
  ['chat-completions', { reasoning_effort: 'high' }, 'some'],
  ['chat-completions', { reasoning_effort: 'minimal' }, 'some'],
  ['chat-completions', { reasoning_effort: 'none' }, 'none'],
  ['chat-completions', { reasoning_effort: null }, undefined],
  ['chat-completions', { reasoning: { effort: 'low' } }, 'some'],
  ['chat-completions', { reasoning: { max_tokens: 2_000 } }, 'some'],
  ['chat-completions', { reasoning: { enabled: true } }, 'some'],
  ['chat-completions', { reasoning: { enabled: false, effort: 'high' } }, 'none'],
  ['chat-completions', { reasoning: { exclude: true } }, undefined],
  ['chat-completions', { thinking: { type: 'enabled', budget_tokens: 2_000 } }, 'some'],
  ['chat-completions', { thinking: { type: 'disabled' } }, 'none'],
  ['chat-completions', { thinking: { type: 'auto' } }, undefined],
  ['chat-completions', { enable_thinking: true }, 'some'],
  ['chat-completions', { enable_thinking: false }, 'none'],
  ['chat-completions', { thinking_budget: 500 }, 'some'],
  ['chat-completions', { reasoning_effort: 7, thinking: [] }, 'some'],
  ['responses', { reasoning: { effort: 'high', summary: 'auto' } }, 'some'],
  ['responses', { reasoning: { effort: 'none' } }, 'none'],
  ['responses', { reasoning: { summary: 'auto' } }, undefined],
  ['responses', {}, undefined],
  ['messages', { thinking: { type: 'enabled', budget_tokens: 1_024 } }, 'some'],
  ['messages', { thinking: { type: 'adaptive' } }, 'some'],
  ['messages', { thinking: { type: 'disabled' }, output_config: { effort: 'high' } }, 'none'],
  ['messages', { thinking: { type: 'between_tools' } }, undefined],
  ['messages', { output_config: { format: { type: 'json_schema', schema: {} }, effort: 'low' } }, 'some'],
  ['messages', { output_config: { format: { type: 'json_schema', schema: {} } } }, undefined],
  ['generate-content', native({ thinkingBudget: 0 }), 'none'],
  ['generate-content', native({ thinking_budget: '0' }), 'none'],
  ['generate-content', native({ thinkingBudget: -1 }), 'some'],
  ['generate-content', native({ thinkingLevel: 'HIGH', includeThoughts: true }), 'some'],
  ['generate-content', native({ thinkingLevel: 'THINKING_LEVEL_UNSPECIFIED' }), undefined],
  ['generate-content', native({ includeThoughts: true }), undefined],
  ['generate-content', { generation_config: { thinking_config: { thinking_level: 'low' } } }, 'some'],
])('%s with %j asks for thought: %s', (protocol, members, thought) => {
  expect(thoughtOf(protocol, members)).toBe(thought);
});
