import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';
import { gzipSync } from 'node:zlib';
import { SeededRandom } from '../simulate/seeded-random.ts';
import { mutate, textOf, treeOf } from './json-mutation.ts';

/** A right answer of a protocol, to be garbled. */
export interface Sample {
  /** The end of the paths it answers. */
  readonly path: string;
  readonly stream: boolean;
  readonly contentType: string;
  readonly body: string;
}

// Only `startGarbler` starts this thread, and it passes exactly this.
const samples = workerData as readonly Sample[];

const server = createServer(
  (request, response) => void answer(request, response).catch(() => response.destroy()),
);
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => parentPort?.postMessage((server.address() as AddressInfo).port));

/** The same question, the same answer: what a caller's body leads to can be seen again. */
async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = Buffer.concat(await Array.fromAsync(request));
  const path = (request.url ?? '').split('?')[0] ?? '';
  const random = new SeededRandom(hashOf(body));
  random.uniform();
  const isStream = body.includes('"stream":true') || path.includes(':stream');
  const fitting = samples.filter((sample) => path.endsWith(sample.path) && sample.stream === isStream);
  const sample = random.pick(fitting.length === 0 ? samples : fitting);
  await send(sample, random, response);
}

function hashOf(body: Buffer): number {
  let hash = 0x811c9dc5;
  for (const byte of body) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash >>> 0;
}

async function send(sample: Sample, random: SeededRandom, response: ServerResponse): Promise<void> {
  const text = sample.stream ? garbledStream(sample.body, random) : garbledJson(sample.body, random);
  const bytes = garbledBytes(Buffer.from(text), random);
  const isPacked = random.below(40) === 0;
  response.writeHead(
    random.below(12) === 0 ? random.pick([201, 204, 206, 302, 400, 402, 408, 409, 418, 500, 529, 599]) : 200,
    {
      'content-type':
        random.below(12) === 0
          ? random.pick(['text/plain', 'text/html', 'application/octet-stream', ''])
          : sample.contentType,
      ...(isPacked ? { 'content-encoding': random.pick(['gzip', 'br']) } : {}),
      ...(random.below(20) === 0 ? { 'retry-after': random.pick(['-1', '1e9', 'soon', '0.5']) } : {}),
      ...(random.below(20) === 0 ? { 'x-request-id': '\u00ff'.repeat(300) } : {}),
      ...(random.below(20) === 0
        ? { 'x-ratelimit-remaining-requests': random.pick(['-5', 'NaN', '1e400']) }
        : {}),
    },
  );
  const whole = isPacked ? gzipSync(bytes) : bytes;
  const cut = random.below(10) === 0 ? random.below(whole.length + 1) : whole.length;
  for (let at = 0; at < cut; ) {
    const size = random.below(3) === 0 ? 1 + random.below(400) : cut;
    response.write(whole.subarray(at, Math.min(cut, at + size)));
    at += size;
    if (random.below(3) === 0) await new Promise((next) => setImmediate(next));
  }
  if (cut < whole.length && random.below(2) === 0) response.destroy();
  else response.end();
}

function garbledJson(body: string, random: SeededRandom): string {
  if (random.below(8) === 0) return body;
  const tree = treeOf(JSON.parse(body));
  mutate(tree, random);
  return textOf(tree);
}

/** Frames wrong in themselves, or left out, or twice, or in another place. */
function garbledStream(body: string, random: SeededRandom): string {
  const frames = body.split(/(?<=\n\n)/);
  for (let left = 1 + random.below(3); left > 0; left--) {
    const place = random.below(frames.length);
    const frame = frames[place] ?? '';
    switch (random.below(6)) {
      case 0:
        frames.splice(place, 1);
        break;
      case 1:
        frames.splice(random.below(frames.length), 0, frame);
        break;
      case 2:
        frames.splice(
          place,
          0,
          random.pick([
            ': note\n\n',
            'data:\n\n',
            'data: {\n\n',
            'event: x\n\n',
            'retry: 1\n\n',
            '\n\n',
            'data: [DONE]\n\n',
          ]),
        );
        break;
      default:
        frames[place] = frame.replace(
          /(data: ?)(\{.*\})/,
          (_, label: string, json: string) => label + garbledJson(json, random),
        );
    }
  }
  return frames.join('');
}

function garbledBytes(bytes: Buffer, random: SeededRandom): Buffer {
  switch (random.below(12)) {
    case 0:
      return Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), bytes]);
    case 1: {
      const changed = Buffer.from(bytes);
      for (let left = 1 + random.below(4); left > 0 && changed.length > 0; left--)
        changed[random.below(changed.length)] = random.below(256);
      return changed;
    }
    case 2:
      return Buffer.from(bytes.toString('latin1').replaceAll('\n', '\r\n'), 'latin1');
    default:
      return bytes;
  }
}
