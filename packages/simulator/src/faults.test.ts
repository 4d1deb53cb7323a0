import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { faultNames } from './command/command.ts';
import type { JsonRecord } from './json.ts';
import { isRecord, listOf, parseJson, recordOf } from './json.ts';
import type { ManualClock } from './manual-clock.fixture.ts';
import { manualClock } from './manual-clock.fixture.ts';
import type { RawAnswer, RawConnection } from './raw-exchange.fixture.ts';
import { chatRequest, exchange, openRaw, readAnswer } from './raw-exchange.fixture.ts';
import type { SimulatedRequest } from './server/request-log.ts';
import type { Simulator } from './simulator.ts';
import { startSimulator } from './simulator.ts';

/**
 * The events on a client's socket, in order. `end` is a whole HTTP message on a connection that stays open,
 * `silence` nothing more for an hour.
 */
const streamsByFault: Readonly<Record<string, string>> = {
  html: '200 page end',
  'html-403': '403 page end',
  empty: '200 end',
  'wrong-type': '200 role content content content content content finish done end',
  'reset-before-head': 'RST',
  'reset-before-content': '200 role RST',
  'reset-mid-stream': '200 role content content content RST',
  'reset-before-done': '200 role content content content content content finish RST',
  'stall-before-head': 'silence',
  'stall-before-content': '200 role silence',
  'stall-mid-stream': '200 role content content content silence',
  'stall-before-done': '200 role content content content content content finish silence',
  'end-before-head': 'FIN',
  'end-before-content': '200 role end',
  'end-mid-stream': '200 role content content content end',
  'end-before-done': '200 role content content content content content finish end',
  'cut-before-head': 'FIN',
  'cut-before-content': '200 role FIN',
  'cut-mid-stream': '200 role content content content FIN',
  'cut-before-done': '200 role content content content content content finish FIN',
  'garble-before-head': 'garbled FIN',
  'garble-before-content': '200 role garbled content content content content content finish done end',
  'garble-mid-stream': '200 role content content content garbled content content finish done end',
  'garble-before-done': '200 role content content content content content finish garbled done end',
  'error-before-content': '200 role error end',
  'error-mid-stream': '200 role content content content error end',
  'error-before-done': '200 role content content content content content finish error end',
};

const jsonByFault: Readonly<Record<string, string>> = {
  html: '200 page end',
  'html-403': '403 page end',
  empty: '200 end',
  'wrong-type': '200 answer end',
  'reset-before-head': 'RST',
  'reset-before-content': '200 RST',
  'reset-mid-stream': '200 garbled RST',
  'reset-before-done': '200 garbled RST',
  'stall-before-head': 'silence',
  'stall-before-content': '200 silence',
  'stall-mid-stream': '200 garbled silence',
  'stall-before-done': '200 garbled silence',
  'end-before-head': 'FIN',
  'end-before-content': '200 end',
  'end-mid-stream': '200 garbled end',
  'end-before-done': '200 garbled end',
  'cut-before-head': 'FIN',
  'cut-before-content': '200 FIN',
  'cut-mid-stream': '200 garbled FIN',
  'cut-before-done': '200 garbled FIN',
  'garble-before-head': 'garbled FIN',
  'garble-before-content': '200 garbled end',
  'garble-mid-stream': '200 garbled end',
  'garble-before-done': '200 garbled end',
  'error-before-content': '200 error end',
  'error-mid-stream': '200 error end',
  'error-before-done': '200 error end',
};

let clock: ManualClock;
let simulator: Simulator;

beforeEach(async () => {
  clock = manualClock();
  simulator = await startSimulator({ clock });
});
afterEach(async () => simulator.close());

describe('every fault with a name, on a stream', () => {
  test.each(faultNames)('%s', async (fault) => {
    const seen = await observe(fault, true);
    expect(seen).toBe(streamsByFault[fault]);
  });
});

describe('every fault with a name, on a JSON answer', () => {
  test.each(faultNames)('%s', async (fault) => {
    const seen = await observe(fault, false);
    expect(seen).toBe(jsonByFault[fault]);
  });
});

/** Asks for five words under the fault and tells what came back. */
async function observe(fault: string, stream: boolean): Promise<string> {
  const raw = openRaw(simulator.origin);
  raw.send(chatRequest(`m+tokens=5,fault=${fault}`, { stream }));
  const request = await simulator.until(() => true);
  const ending = await endingOf(request, raw);
  expect(raw.received.length).toBe(request.sentBytes);
  const answer = readAnswer(raw.received);
  raw.close();
  if (answer === null) return raw.received.length === 0 ? ending : `garbled ${ending}`;
  expect(answer.isWhole).toBe(ending === 'end');
  return [answer.status, ...(stream ? wordsOfStream(answer) : wordsOfJson(answer)), ending].join(' ');
}

async function endingOf(request: SimulatedRequest, raw: RawConnection): Promise<string> {
  switch (request.outcome) {
    case 'answered':
      await raw.until(() => readAnswer(raw.received)?.isWhole === true);
      return 'end';
    case 'broken':
      return raw.farewell;
    case 'open': {
      const sentBytes = request.sentBytes;
      clock.advance(3_600_000);
      expect(request.sentBytes).toBe(sentBytes);
      // The reset is the proof that nothing else is on its way.
      await simulator.control.goDown();
      return (await raw.farewell) === 'RST' ? 'silence' : 'FIN';
    }
    case 'client-gone':
      return 'client-gone';
  }
}

function wordsOfStream({ body, headers }: RawAnswer): readonly string[] {
  if (headers['content-type']?.startsWith('text/html') === true) return ['page'];
  return body
    .split('\n\n')
    .filter((frame) => frame !== '')
    .map(wordOfFrame);
}

function wordOfFrame(frame: string): string {
  const data = frame.slice('data: '.length);
  if (data === '[DONE]') return 'done';
  const chunk = parseJson(data);
  if (!isRecord(chunk)) return 'garbled';
  if ('error' in chunk) return 'error';
  const choice = recordOf(listOf(chunk['choices'])[0]);
  if (choice['finish_reason'] !== null) return 'finish';
  return 'role' in recordOf(choice['delta']) ? 'role' : 'content';
}

function wordsOfJson({ body, headers }: RawAnswer): readonly string[] {
  if (body === '') return [];
  if (headers['content-type']?.startsWith('text/html') === true) return ['page'];
  const parsed = parseJson(body);
  if (!isRecord(parsed)) return ['garbled'];
  return ['error' in parsed ? 'error' : 'answer'];
}

describe('statuses', () => {
  test.each([400, 401, 402, 403, 404, 408, 409, 413, 418, 422, 429, 500, 502, 503, 504, 529])(
    '%i comes with an error of all four members',
    async (status) => {
      const answer = await ask(`m+fault=${status}`);
      expect(answer.status).toBe(status);
      expect(Object.keys(errorOf(answer))).toEqual(['message', 'type', 'param', 'code']);
    },
  );

  test('the code chooses the words and a message replaces them', async () => {
    const known = errorOf(await ask('m+fault=400,code=context_length_exceeded'));
    expect(known).toMatchObject({ code: 'context_length_exceeded', param: 'messages' });
    const own = errorOf(await ask('m+fault=400,code=odd,message=credit%20balance%2C%20too%20low'));
    expect(own).toMatchObject({ code: 'odd', message: 'credit balance, too low' });
  });

  test('retry-after comes in its three forms, and a reset as written', async () => {
    const headersOf = async (words: string) => (await ask(`m+fault=429,${words}`)).headers;
    expect((await headersOf('retry-after=30s'))['retry-after']).toBe('30');
    expect((await headersOf('retry-after=date:30s'))['retry-after']).toBe('Sat, 31 Jan 2026 12:00:30 GMT');
    expect((await headersOf('retry-after=ms:1500ms'))['retry-after-ms']).toBe('1500');
    expect((await headersOf('reset=6m0s'))['x-ratelimit-reset-requests']).toBe('6m0s');
  });
});

describe('which requests meet a fault', () => {
  test('times lets later requests of the same command through', async () => {
    const statuses = [];
    for (let count = 0; count < 4; count++) statuses.push((await ask('m+fault=503,times=2')).status);
    expect(statuses).toEqual([503, 503, 200, 200]);
    expect((await ask('other+fault=503,times=2')).status).toBe(503);
  });

  test('share draws from the seed', async () => {
    simulator.control.setScript('fault=503,share=30%');
    const statuses = [];
    for (let count = 0; count < 200; count++) statuses.push((await ask('m')).status);
    const failures = statuses.filter((status) => status === 503).length;
    expect(failures).toBeGreaterThan(40);
    expect(failures).toBeLessThan(80);
  });

  test('the header overrides the model, the model overrides the script', async () => {
    simulator.control.setScript('fault=500');
    expect((await ask('m')).status).toBe(500);
    expect((await ask('m+fault=502')).status).toBe(502);
    expect((await ask('m+fault=502', {}, ['x-simulate: fault=504'])).status).toBe(504);
  });

  test('a script reaches the list of models too', async () => {
    simulator.control.setScript('fault=401');
    expect(
      (await exchange(simulator.origin, 'GET /v1/models HTTP/1.1\r\nhost: simulator\r\n\r\n')).status,
    ).toBe(401);
  });

  test('a command that cannot be read is refused by name', async () => {
    const answer = await ask('m+fault=nothing-of-the-kind');
    expect(answer.status).toBe(400);
    expect(answer.body).toContain('fault=nothing-of-the-kind');
    expect(() => simulator.control.setScript('bogus')).toThrow('bogus');
  });
});

function errorOf({ body }: RawAnswer): JsonRecord {
  return recordOf(recordOf(parseJson(body))['error']);
}

async function ask(model: string, members = {}, headerLines: readonly string[] = []): Promise<RawAnswer> {
  return exchange(simulator.origin, chatRequest(model, members, headerLines));
}
