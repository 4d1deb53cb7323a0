import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { reference, tellMissing } from '../../../../test/support/reference.ts';
import { parseAs } from '../bytes/json-text.fixture.ts';
import { requestInput } from '../request/request-input.fixture.ts';
import { defaultDialect } from '../request.ts';
import { images } from './index.ts';

/** A recorded exchange of a real server, read when it lies beside the checkout (it is not part of it). */
const recorded = 'envoy-openai-cassettes/image-generation-basic.yaml';
const cassette = new URL(recorded, reference);
tellMissing('a recorded exchange', [recorded]);

interface Exchange {
  readonly name: string;
  readonly request: string;
  readonly answer: string;
}

const own: Exchange = {
  name: 'our own',
  request: '{"model":"m","prompt":"a cat","size":"1024x1024","quality":"low"}',
  answer: '{"created":1,"data":[{"url":"https://example.com/a.png"}]}',
};

/** Bodies are double-quoted scalars, whose escapes are those of JSON. */
function recordedExchanges(): readonly Exchange[] {
  if (!existsSync(cassette)) return [];
  const bodies = [...readFileSync(cassette, 'utf8').matchAll(/^ {4}body: (".*")$/gm)];
  const [request = '', answer = ''] = bodies.map(([, text = '']) => parseAs<string>(text));
  return [{ name: 'recorded', request, answer }];
}

describe.each([own, ...recordedExchanges()])('$name', ({ request, answer }) => {
  test('is read', () => {
    const read = images.readRequest(requestInput(request, { path: '/v1/images/generations' }));
    expect(read.ok && read.value.facts).toMatchObject({
      choices: 1,
      terms: { size: '1024x1024', quality: 'low' },
    });
    const reading = images.readAnswer(new TextEncoder().encode(answer), defaultDialect);
    expect(reading).toMatchObject({ kind: 'answer', reading: { usage: null, images: { finished: 1 } } });
  });
});
