import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parseJson } from '../../refusal.ts';
import { answerEvents } from '../../translate/answer-events.ts';
import { collectAnswer } from '../../translate/collect-answer.ts';
import type { TurnAnswer } from '../../turn-event.ts';
import { isRecord, listOf, recordOf, type WireRecord } from '../../wire-values.ts';
import { frameOf, framesOf, readerContext, readFrames, writeEvents, writerContext } from './codec.fixture.ts';
import { responsesCodec } from './index.ts';

/** Recorded answers of real servers, read when they lie beside the checkout (they are not part of it). */
const data = new URL('../../../../../../shared/protocols/data/vercel-ai/', import.meta.url);
const folders = ['openai', 'azure', 'xai', 'open-responses'].flatMap((vendor) => [
  `${vendor}/src/responses/__fixtures__/`,
  `${vendor}/src/__fixtures__/`,
]);

interface Recording {
  readonly name: string;
  readonly text: string;
}

function recordings(ending: string): readonly Recording[] {
  return folders
    .map((folder) => new URL(folder, data))
    .filter((folder) => existsSync(folder))
    .flatMap((folder) => readdirSync(folder).map((name) => new URL(name, folder)))
    .filter(({ pathname }) => pathname.endsWith(ending))
    .map((file) => ({ name: file.pathname.split('/').slice(-1).join(), text: readFileSync(file, 'utf8') }));
}

const item = { type: 'message', content: [{ type: 'output_text', text: 'hi', annotations: [] }] };
const response = { id: 'r', model: 'm', status: 'completed', output: [item], usage: { input_tokens: 1 } };
const own = { name: 'our own', text: JSON.stringify(response) };
const ownStream = { name: 'our own', text: JSON.stringify({ type: 'response.completed', response }) };

const wholes = [own, ...recordings('.json')].filter(({ text }) =>
  Array.isArray(recordOf(parseJson(text))['output']),
);
/** Whoever recorded these kept the first deltas only. */
const shortened = ['openai-phase.1.chunks.txt', 'openai-shell-container.1.chunks.txt'];

interface Stream {
  readonly name: string;
  readonly events: readonly WireRecord[];
}

const streams = [ownStream, ...recordings('.chunks.txt')]
  .filter(({ name }) => !shortened.includes(name))
  .flatMap(answersIn)
  .filter(({ events }) => events.at(-1)?.['type'] === 'response.completed');

/** The answers of a recording, of which some hold a whole conversation. */
function answersIn({ name, text }: Recording): readonly Stream[] {
  const answers: Stream[] = [];
  let events: WireRecord[] = [];
  for (const line of text.split('\n')) {
    const event = parseJson(line);
    if (!isRecord(event)) continue;
    if (event['type'] === 'response.created' || answers.length === 0) {
      events = [];
      answers.push({ name, events });
    }
    events.push(event);
  }
  return answers;
}

function readWhole(value: unknown): TurnAnswer {
  return responsesCodec.readAnswer(new TextEncoder().encode(JSON.stringify(value)), readerContext());
}

/** What a caller of this protocol would have of it, read again; its state is sealed for the way and has ids of ours. */
function plain({ content }: TurnAnswer) {
  return content.map((block) => {
    if (block.kind !== 'text')
      return { ...block, ...('sealed' in block ? { sealed: block.sealed !== null } : {}) };
    const citations = block.citations.map(({ url, title }) => ({ url, title: title ?? '' }));
    return { ...block, citations };
  });
}

describe('recorded answers', () => {
  test.each(wholes)('$name decodes and is said again', ({ text }) => {
    const answer = readWhole(parseJson(text));
    expect(answer.finish.reason).not.toBe('unknown');
    const again = responsesCodec.writeAnswer(answer, writerContext());
    expect(plain(responsesCodec.readAnswer(again, readerContext()))).toEqual(plain(answer));
  });

  test.each(streams)('$name is the same streamed and whole, and is said again', ({ events }) => {
    const streamed = collectAnswer(readFrames(events.map(frameOf)));
    const last = recordOf(events.at(-1)?.['response']);
    const whole = readWhole(last);
    // One server's last event repeats no items.
    if (listOf(last['output']).length > 0) expect(plain(streamed)).toEqual(plain(whole));
    expect(streamed.finish.usage).toEqual(whole.finish.usage);
    const again = collectAnswer(readFrames(framesOf(writeEvents(answerEvents(streamed)))));
    expect(plain(again)).toEqual(plain(streamed));
  });
});
