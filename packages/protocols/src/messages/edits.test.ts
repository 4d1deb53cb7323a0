import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { concatBytes } from '../bytes/splice.ts';
import { passthroughTarget, requestInput } from '../request/request-input.fixture.ts';
import { messages } from './index.ts';

const decoder = new TextDecoder();

/** The request of these messages as it goes to the target `here`. */
function sent(list: string, rest = '') {
  const request = messages.readRequest(requestInput(`{"model":"m","messages":${list}${rest}}`));
  if (!request.ok) throw new Error(request.error.message);
  const { body, edits } = request.value.passThrough(passthroughTarget('m'));
  const text = decoder.decode(concatBytes(body));
  return { list: text.slice('{"model":"m","messages":'.length, -1 - rest.length || undefined), text, edits };
}

const user = '{"role":"user","content":"hi"}';
const say = (...blocks: readonly string[]) => `{"role":"assistant","content":[${blocks.join(' , ')}]}`;
const mine = '{"type":"thinking","thinking":"a","signature":"gw1.here.c2ln\\/+=="}';
const unmarked = '{"type":"thinking","thinking":"a","signature":"c2ln/+=="}';
const foreign = '{"signature":"gw1.there.x","thinking":"a","type":"thinking"}';
const unsigned = '{"type":"thinking","thinking":"a","signature":"gw1.none."}';
const redacted = '{"type":"redacted_thinking","data":"gw1.there.x"}';
const native = '{"type":"thinking","thinking":"\\"gw1.there.\\"","signature":"c2ln"}';
const text = '{"type":"text","text":"gw1.there.x"}';

describe('thoughts of targets of other protocols', () => {
  test.each<[string, readonly string[], readonly string[]]>([
    ['those of others go', [foreign, text], [text]],
    ['wherever they stand', [text, foreign, redacted, native, unsigned], [text, native]],
    ['one by one', [foreign, text, redacted, text], [text, text]],
    ['its own are its own again', [mine, text], [unmarked, text]],
    ['beside others', [foreign, mine, redacted, text], [unmarked, text]],
    ['and what has no mark of ours stays', [native, text], [native, text]],
  ])('%s', (_, blocks, kept) => {
    const written = sent(`[${user},${say(...blocks)},${user}]`);
    expect(JSON.parse(written.list)).toEqual(JSON.parse(`[${user},${say(...kept)},${user}]`));
  });

  test('a message of nothing else goes, and all of them may', () => {
    const blank = say(foreign, redacted);
    expect(sent(`[ ${blank} , ${user} ,${blank}, ${blank}]`).list).toBe(`[ ${user}]`);
    expect(sent(`[${blank},${blank}]`).list).toBe('[]');
  });

  test('nothing else changes, and the edits are told', () => {
    const body = `[ ${user} ,\n${say(text, foreign)} ]`;
    expect(sent(body)).toMatchObject({ list: `[ ${user} ,\n${say(text)} ]`, edits: ['foreign-state'] });
    expect(sent(`[${say(mine)}]`).edits).toEqual(['own-state']);
    expect(sent(`[${say(native, text)}]`).edits).toEqual([]);
  });

  test('a model that insists on them in a use of tools does not think this once', () => {
    const call = '{"type":"tool_use","id":"t","name":"n","input":{}}';
    const result = '{"role":"user","content":[{"type":"tool_result","tool_use_id":"t"}]}';
    const by = (thinking: string, ...list: readonly string[]) =>
      sent(`[${list.join()}]`, `,"thinking":${thinking}`)
        .text.slice(-thinking.length - 14)
        .split('"thinking":')[1];
    const enabled = '{"type":"enabled","budget_tokens":2000}';
    const adaptive = '{"type":"adaptive"}';
    expect(by(enabled, user, say(foreign, call), result)).toBe('{"type":"disabled"}}');
    expect(by(enabled, user, say(mine, call), result)).toBe(`${enabled}}`);
    expect(by(enabled, user, say(foreign, text), user)).toBe(`${enabled}}`);
    expect(by(adaptive, user, say(foreign, call), result)).toBe(`${adaptive}}`);
  });

  const known = [mine, foreign, redacted, native, text];
  const strange = ['7', '"gw1.x"', '{"type":["thinking"],"data":"gw1.there.x"}', '[]', '{}'];
  const listOf = (blocks: readonly string[]) =>
    fc.array(
      fc.oneof(
        fc.array(fc.constantFrom(...blocks)).map((each) => say(...each)),
        fc.constant(user),
      ),
    );

  test('never arrive', () => {
    fc.assert(
      fc.property(listOf(known), (list) => {
        const written: unknown = JSON.parse(sent(`[${list.join()}]`).list);
        expect(JSON.stringify(written)).not.toMatch(/"(signature|data)":"gw1/);
      }),
    );
  });

  test('in a conversation that is none leave it JSON', () => {
    fc.assert(
      fc.property(listOf([...known, ...strange]), fc.constantFrom(...strange), (list, odd) => {
        expect(() => void JSON.parse(sent(`[${[...list, odd].join()}]`).list)).not.toThrow();
      }),
    );
  });
});
