import { expect, test } from 'vitest';
import { chatCompletionsCodec } from './chat-completions/index.ts';
import { messagesCodec } from './messages/index.ts';
import { defaultDialect } from './request.ts';
import { text, traceId, turnOf } from './translate/turn.fixture.ts';
import { translate } from './translation.ts';

const target = {
  upstreamModel: 'upstream',
  path: '/chat/completions',
  dialect: defaultDialect,
  origin: 'here',
  maxOutputTokens: null,
  reasoning: false,
};

function translated(messages: number) {
  const said = Array.from(
    { length: messages },
    () => ({ role: 'user', content: [text('a')], name: null }) as const,
  );
  const context = {
    turn: turnOf({ messages: said }),
    traceId,
    createdS: 0,
    wantsUsageFrame: false,
    framing: 'sse',
    inputTokensEstimate: 0,
  } as const;
  return translate({ caller: messagesCodec, upstream: chatCompletionsCodec }, target, context);
}

test('so many messages are translated, and more are refused before anything is done', () => {
  expect(translated(10_000).ok).toBe(true);
  expect(translated(10_001)).toMatchObject({ ok: false, error: { status: 400, param: 'messages' } });
});
