import {
  brotliCompressSync,
  constants,
  createZstdCompress,
  deflateSync,
  gzipSync,
  zstdCompressSync,
} from 'node:zlib';
import { protocols } from '@headgate/protocols';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isStream, oddAnswers } from '../packages/protocols/src/odd-servers.fixture.ts';
import { openTestGateway, type TestGateway } from './support/gateway.ts';
import { entryOfModel } from './support/ledger.ts';
import { type ScriptedUpstream, startScriptedUpstream } from './support/scripted-upstream.ts';
import { callSurface, isComplete, type Mode, type Surface } from './support/surface-calls.ts';

const codings = { gzip: gzipSync, br: brotliCompressSync, deflate: deflateSync, zstd: zstdCompressSync };
type Coding = keyof typeof codings;

const names = Object.keys(codings) as Coding[];
const surfaces: readonly Surface[] = ['chat-completions', 'responses', 'messages', 'generate-content'];

/** The bodies that every protocol has in its odd answers, whose text is "Hello". */
function bodyOf(protocol: Surface, mode: Mode): string | null {
  const found = oddAnswers.find(
    (answer) =>
      answer.protocol === protocol &&
      answer.says?.text === 'Hello' &&
      answer.says.tokens !== null &&
      isStream(answer) === (mode === 'stream'),
  );
  return found?.body ?? null;
}

const cases = surfaces.flatMap((surface) =>
  surfaces.flatMap((upstream) =>
    (['stream', 'json'] as const).flatMap((mode) =>
      names.flatMap((coding) => {
        const body = bodyOf(upstream, mode);
        return body === null
          ? []
          : [{ surface, upstream, mode, coding, body, id: `${surface}-${upstream}-${mode}-${coding}` }];
      }),
    ),
  ),
);

let scripted: ScriptedUpstream;
let gateway: TestGateway;

beforeAll(async () => {
  scripted = await startScriptedUpstream();
  gateway = await openTestGateway({
    channels: cases.map(({ id, upstream }) => ({
      id,
      origin: scripted.origin,
      models: { [id]: 'm-1' },
      protocols: { [upstream]: protocols[upstream].usualPath },
    })),
  });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  scripted.close();
});

/** The answer in pieces, as a server sends it that compresses as it goes. */
function script(body: Uint8Array, coding: string, mode: Mode): void {
  const type = mode === 'stream' ? 'text/event-stream' : 'application/json';
  const half = Math.ceil(body.length / 2);
  scripted.script = {
    headers: { 'content-type': type, 'content-encoding': coding },
    pieces: [body.subarray(0, half), body.subarray(half)],
  };
}

describe('an answer that came compressed in spite of what was asked for', () => {
  test.each(cases)('$coding, $mode, $surface answered in $upstream', async (each) => {
    const { surface, mode, coding, body, id } = each;
    script(codings[coding](body), coding, mode);
    const answer = await callSurface(gateway, surface, id, mode);
    expect(answer.headers.get('content-encoding')).toBeUndefined();
    expect(isComplete(answer, surface, mode), answer.body.toString()).toBe(true);
    const entry = await entryOfModel(gateway, id);
    expect(entry).toMatchObject({
      status: 'complete',
      usageSource: 'upstream',
      usage: { inputFresh: 9, output: 4 },
    });
    expect(entry.attempts[0]?.edits).toContain(`decoded-${coding}`);
  });

  test.each(names)('one that breaks off is none: %s', async (coding) => {
    const id = `messages-chat-completions-stream-${coding}`;
    script(codings[coding](bodyOf('chat-completions', 'stream') ?? '').subarray(0, -60), coding, 'stream');
    const answer = await callSurface(gateway, 'messages', id, 'stream');
    expect(isComplete(answer, 'messages', 'stream')).toBe(false);
  });

  // A server that compresses as it goes cannot tell how much is to come, so its frame names the whole window.
  test.each([
    [23, true],
    [24, false],
    [27, false],
  ])('one in zstd asks for no more memory than the web allows: 2^%i bytes', async (log, isTaken) => {
    const encoder = createZstdCompress({ params: { [constants.ZSTD_c_windowLog]: log } });
    const whole = encoder.toArray();
    encoder.write((bodyOf('chat-completions', 'stream') ?? '').slice(0, 20));
    await new Promise<void>((resolve) => encoder.flush(resolve));
    encoder.end((bodyOf('chat-completions', 'stream') ?? '').slice(20));
    script(Buffer.concat((await whole) as Buffer[]), 'zstd', 'stream');
    const answer = await callSurface(
      gateway,
      'chat-completions',
      'chat-completions-chat-completions-stream-zstd',
      'stream',
    );
    expect(isComplete(answer, 'chat-completions', 'stream')).toBe(isTaken);
  });
});
