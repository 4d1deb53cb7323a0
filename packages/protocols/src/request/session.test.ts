import { describe, expect, test } from 'vitest';
import { chatCompletions } from '../chat-completions/index.ts';
import { generateContent } from '../generate-content/index.ts';
import { images } from '../images/index.ts';
import { messages } from '../messages/index.ts';
import type { Protocol, ProtocolId } from '../protocols.ts';
import type { SessionClue } from '../request.ts';
import { responses } from '../responses/index.ts';
import { requestInput } from './request-input.fixture.ts';

/** All that a client sends on one turn of a conversation. */
interface Turn {
  readonly system: string;
  readonly first: string;
  /** Turns before this one. */
  readonly past: number;
  readonly extra?: object;
}

const pastOf = ({ past }: Turn) => Array.from({ length: past }, (_, n) => [`answer ${n}`, `and then ${n}?`]);

/** As clients write them, marks for caches where they were put last included. */
const bodies = {
  'chat-completions': (turn: Turn) => ({
    model: 'm',
    messages: [
      { role: 'system', content: turn.system },
      // A text alone, or the one part of a list that is marked.
      turn.past > 0
        ? { role: 'user', content: turn.first }
        : {
            role: 'user',
            content: [{ type: 'text', text: turn.first, cache_control: { type: 'ephemeral' } }],
          },
      ...pastOf(turn).flatMap(([answer, question]) => [
        { role: 'assistant', content: answer },
        { role: 'user', content: question },
      ]),
    ],
  }),
  responses: (turn: Turn) => ({
    model: 'm',
    instructions: turn.system,
    input: [
      { type: 'message', role: 'developer', content: [{ type: 'input_text', text: '<permissions/>' }] },
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: turn.first }] },
      ...pastOf(turn).flatMap(([answer, question]) => [
        { type: 'reasoning', summary: [], encrypted_content: 'c2VhbGVk' },
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: answer }] },
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: question }] },
      ]),
    ],
  }),
  messages: (turn: Turn) => ({
    max_tokens: 9,
    model: 'm',
    system: [{ type: 'text', text: turn.system, cache_control: { type: 'ephemeral' } }],
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: '<system-reminder>Be kind.</system-reminder>' },
          turn.past > 0
            ? { type: 'text', text: turn.first }
            : { type: 'text', text: turn.first, cache_control: { type: 'ephemeral' } },
        ],
      },
      ...pastOf(turn).flatMap(([answer, question]) => [
        { role: 'assistant', content: [{ type: 'text', text: answer }] },
        { role: 'user', content: question },
      ]),
    ],
  }),
  'generate-content': (turn: Turn) => ({
    systemInstruction: { role: 'user', parts: [{ text: turn.system }] },
    contents: [
      { parts: [{ text: turn.first }] },
      ...pastOf(turn).flatMap(([answer, question]) => [
        { role: 'model', parts: [{ text: answer, thoughtSignature: 'c2VhbGVk' }] },
        { role: 'user', parts: [{ text: question }] },
      ]),
    ],
  }),
} satisfies Partial<Record<ProtocolId, (turn: Turn) => object>>;

type Surface = keyof typeof bodies;

const surfaces: readonly Surface[] = ['chat-completions', 'responses', 'messages', 'generate-content'];

const spoken = {
  'chat-completions': chatCompletions,
  responses,
  messages,
  'generate-content': generateContent,
} satisfies Record<Surface, Protocol>;

function clueIn(surface: Surface, body: object | string): SessionClue | null {
  const params = { model: 'm', action: 'generateContent' };
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const request = spoken[surface].readRequest(requestInput(text, { params }));
  if (!request.ok) throw new Error(request.error.message);
  return request.value.sessionClue?.() ?? null;
}

const opening = { system: 'You are "terse".\n', first: 'Why is the sky blue? 天' };

function clueOf(surface: Surface, turn: Partial<Turn> = {}): SessionClue | null {
  const { extra, ...rest } = turn;
  return clueIn(surface, { ...bodies[surface]({ ...opening, past: 0, ...rest }), ...extra });
}

describe.each(surfaces)('of %s', (surface) => {
  test('the opening is the same on every turn, and another one in another conversation', () => {
    const first = clueOf(surface);
    expect(first?.kind).toBe('opening');
    for (const past of [1, 2, 40]) expect(clueOf(surface, { past })).toEqual(first);
    expect(clueOf(surface, { first: 'Why is the sea blue?' })).not.toEqual(first);
    expect(clueOf(surface, { system: 'You are verbose.' })).not.toEqual(first);
  });

  test('what comes after the opening costs nothing, whatever it is', () => {
    const text = JSON.stringify(bodies[surface]({ ...opening, past: 1 }));
    const spaced = text.replaceAll('":', '" : ').replaceAll('},{', '} ,\n {');
    expect(clueIn(surface, spaced)).toEqual(clueOf(surface));
    expect(clueOf(surface, { past: 5_000 })).toEqual(clueOf(surface));
  });

  test('openings of any length tell conversations apart by how they end', () => {
    const long = 'All of the rules of this house. '.repeat(700);
    const clue = clueOf(surface, { system: long, first: `${long}Begin.` });
    expect(clueOf(surface, { system: long, first: `${long}Begin!` })).not.toEqual(clue);
    expect(clueOf(surface, { system: long, first: `${long}Begin.`, past: 3 })).toEqual(clue);
  });

  test('a first message like a mountain counts by its beginning', () => {
    const mountain = 'x'.repeat(70_000);
    const clue = clueOf(surface, { first: mountain });
    expect(clueOf(surface, { first: mountain, past: 2 })).toEqual(clue);
    expect(clueOf(surface, { first: `y${mountain}` })).not.toEqual(clue);
  });
});

describe('named', () => {
  test.each<[Surface, object, object]>([
    ['chat-completions', { prompt_cache_key: 'k', user: 'u' }, { prompt_cache_key: 'l', user: 'u' }],
    ['responses', { prompt_cache_key: 'k', conversation: 'c' }, { prompt_cache_key: 'l', conversation: 'c' }],
    ['responses', { conversation: 'c', user: 'u' }, { conversation: 'd', user: 'u' }],
    ['responses', { conversation: { id: 'c' } }, { conversation: { id: 'd' } }],
    ['generate-content', { cachedContent: 'cachedContents/1' }, { cached_content: 'cachedContents/2' }],
  ])('a conversation of %s stands for itself: %j', (surface, extra, other) => {
    const clue = clueOf(surface, { extra });
    expect(clue?.kind).toBe('conversation');
    expect(clueOf(surface, { extra, first: 'Something else?', past: 4 })).toEqual(clue);
    expect(clueOf(surface, { extra: other })).not.toEqual(clue);
  });

  test('is the same by either spelling', () => {
    const [id, bare] = [{ conversation: { object: 'x', id: 'c' } }, { conversation: 'c' }];
    expect(clueOf('responses', { extra: id })).toEqual(clueOf('responses', { extra: bare }));
    const spellings = [{ cachedContent: 'c' }, { cached_content: 'c' }];
    expect(new Set(spellings.map((extra) => clueOf('generate-content', { extra })?.fingerprint)).size).toBe(
      1,
    );
  });

  const agentsUser = `user_${'0a'.repeat(32)}_account__session_5f2b1c9e-0000-4000-8000-00000000000`;

  test.each<[Surface, object, object]>([
    ['chat-completions', { user: 'u' }, { user: 'v' }],
    ['chat-completions', { safety_identifier: 's', user: 'u' }, { safety_identifier: 't', user: 'u' }],
    ['responses', { user: 'u' }, { user: 'v' }],
    ['messages', { metadata: { user_id: `${agentsUser}1` } }, { metadata: { user_id: `${agentsUser}2` } }],
  ])('a person of %s has conversations by their first messages: %j', (surface, extra, other) => {
    const clue = clueOf(surface, { extra });
    expect(clue?.kind).toBe('person');
    expect(clueOf(surface, { extra, past: 4 })).toEqual(clue);
    // Instructions may say the time, and some upstreams leave out of the prefix what agents put there.
    expect(clueOf(surface, { extra, system: 'billing: 2' })).toEqual(clue);
    expect(clueOf(surface, { extra, first: 'Something else?' })).not.toEqual(clue);
    expect(clueOf(surface, { extra: other })).not.toEqual(clue);
  });

  test.each([null, 7, '', {}, []])('by what is no name, %j, is not named at all', (name) => {
    const clue = { kind: 'opening', fingerprint: clueOf('chat-completions')?.fingerprint };
    expect(clueOf('chat-completions', { extra: { prompt_cache_key: name, user: name } })).toEqual(clue);
    expect(clueOf('messages', { extra: { metadata: name } })).toEqual(clueOf('messages'));
    expect(clueOf('messages', { extra: { metadata: { user_id: name } } })).toEqual(clueOf('messages'));
  });
});

test('an input that is the text itself is the first message', () => {
  const say = (input: string) => clueIn('responses', { model: 'm', input });
  expect(say('hi')).toMatchObject({ kind: 'opening' });
  expect(say('hi')).not.toEqual(say('ho'));
});

test('a turn whose beginning is kept upstream has no opening', () => {
  const extra = { previous_response_id: 'resp_1' };
  expect(clueOf('responses', { extra })).toBeNull();
  expect(clueOf('responses', { extra: { ...extra, user: 'u' } })).toBeNull();
  expect(clueOf('responses', { extra: { ...extra, prompt_cache_key: 'k' } })?.kind).toBe('conversation');
});

test('a thread that goes on has no opening, either', () => {
  const thread = { type: 'continue', previous_message_id: 'msg_1' };
  expect(clueOf('messages', { extra: { thread } })).toBeNull();
  expect(clueOf('messages', { extra: { thread: { type: 'create' } } })).toEqual(clueOf('messages'));
});

test('images are of no conversation: no upstream keeps their prompts', () => {
  const request = images.readRequest(requestInput('{"model":"m","prompt":"A blue sky","user":"u"}'));
  expect(request.ok && request.value.sessionClue).toBeUndefined();
});

test('a picture is part of what the user said', () => {
  const show = (data: string) =>
    clueIn('messages', {
      model: 'm',
      messages: [
        {
          role: 'user',
          content: [
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data } },
            { type: 'text', text: 'What is it?' },
          ],
        },
      ],
    });
  expect(show('iVBORw0A')).toEqual(show('iVBORw0A'));
  expect(show('iVBORw0A')).not.toEqual(show('iVBORw0B'));
});

test.each([
  '{"model":"m","messages":[]}',
  '{"model":"m","messages":[7,{},{"role":"user"},{"role":"user","content":[]},{"content":"hi"}]}',
  '{"model":"m","messages":[{"role":"assistant","content":"Welcome."}]}',
  '{"model":"m","messages":[{"role":7,"content":"hi"}]}',
])('%s has no opening', (body) => {
  expect(clueIn('chat-completions', body)).toBeNull();
});

test('what is no JSON ends an opening and is for the upstream to refuse', () => {
  const body = '{"model":"m","messages":[{"role" "user","content":["hi"]},{"role":"user","content":"ho"}]}';
  expect(clueIn('chat-completions', body)).toBeNull();
});
