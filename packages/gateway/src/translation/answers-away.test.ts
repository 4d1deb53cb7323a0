import { defaultDialect, protocols } from '@headgate/protocols';
import { expect, test } from 'vitest';
import type { AnswerAway } from '../ports/gateway.ts';
import { WorkerTranslator } from './worker-translator.ts';

const long = 'line\n"of" text 語 '.repeat(50_000);

test('a long answer is read in another thread as it is here', async () => {
  const lost: string[] = [];
  const translator = new WorkerTranslator((why) => lost.push(why));
  const body = new TextEncoder().encode(
    JSON.stringify({
      choices: [{ index: 0, message: { role: 'assistant', content: long }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 1, completion_tokens: 2 },
    }),
  );
  const dialect = defaultDialect;
  const job = { upstream: 'chat-completions', dialect, work: 'answer', translation: null } as const;
  const away = await new Promise<AnswerAway | null>((resolve) =>
    translator.readAnswer('a', job, body, resolve),
  );
  await translator.close();
  expect(lost).toEqual([]);
  const here = protocols['chat-completions'].readAnswer(body, dialect, 'answer');
  if (away?.answer.kind !== 'answer' || here.kind !== 'answer') throw new Error('no answer');
  expect(away.bytes).toBe(null);
  expect(away.answer.reading).toMatchObject({ finishReason: 'stop', hasOutput: true });
  for (const [name, value] of Object.entries(away.answer.reading))
    expect([name, value]).toEqual([name, Reflect.get(here.reading, name) ?? null]);
});
