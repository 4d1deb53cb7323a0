import { existsSync, readdirSync, readFileSync } from 'node:fs';
import {
  defaultDialect,
  noSettings,
  noUsage,
  type Protocol,
  protocols,
  SseSplitter,
  type TurnEvent,
  type WriterContext,
} from '@headgate/protocols';
import { describe, expect, test } from 'vitest';
import { reference, tellMissing } from '../../../../../../test/support/reference.ts';
import { isSlow } from '../../../../../../test/support/slow-form.ts';
import { uncounted } from '../../../ports/data-plane.ts';
import { Transcript } from './transcript.ts';

/** Recorded streams of real servers, read where they lie beside the checkout, are broken off and gone on with by our own writers. */
tellMissing('recorded answers', ['vercel-ai/']);

interface Recording {
  readonly name: string;
  readonly protocol: Protocol;
  readonly frames: readonly Uint8Array[];
}

const marks = {
  'chat-completions': /"choices":/,
  responses: /^\{[^\n]*"type":"response\.created"/,
  messages: /^\{[^\n]*"type":"message_start"/,
  'generate-content': /"candidates":/,
} as const;

const own = [
  '{"id":"1","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"content":"Own words"}}]}',
];

function recordings(): readonly Recording[] {
  const root = new URL('vercel-ai', reference);
  const files = existsSync(root)
    ? readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.chunks.txt'))
    : [];
  const read = files.map((name) => ({
    name,
    lines: readFileSync(new URL(name, `${root.href}/`), 'utf8')
      .trim()
      .split('\n'),
  }));
  return [{ name: 'our own', lines: own }, ...read].flatMap(({ name, lines }) => {
    const id = (Object.keys(marks) as (keyof typeof marks)[]).find((each) =>
      marks[each].test(lines[0] ?? ''),
    );
    const protocol = id === undefined ? undefined : protocols[id];
    return protocol === undefined ? [] : [{ name, protocol, frames: lines.map(frameOf) }];
  });
}

function frameOf(line: string): Uint8Array {
  const type = /"type":"([\w.]+)"/.exec(line)?.[1];
  return Buffer.from(`${type === undefined ? '' : `event: ${type}\n`}data: ${line}\n\n`);
}

const readerContext = { origin: 'test', dialect: defaultDialect, names: new Map(), traceId: '0'.repeat(32) };

function writerContext({ codec }: Protocol): WriterContext {
  if (codec === null) throw new Error('a protocol of words');
  return {
    turn: {
      surface: codec.surface,
      model: 'm',
      stream: true,
      system: [],
      messages: [],
      tools: [],
      toolChoice: null,
      settings: noSettings,
      spelling: {},
      extensions: [],
    },
    traceId: readerContext.traceId,
    createdS: 7,
    wantsUsageFrame: true,
    framing: 'sse',
    inputTokensEstimate: 5,
  };
}

function textOf(events: readonly TurnEvent[]): string {
  let isText = false;
  let text = '';
  for (const event of events) {
    if (event.kind === 'block-start') isText = event.block.kind === 'text';
    else if (isText && event.kind === 'delta' && event.delta.kind === 'text') text += event.delta.text;
  }
  return text;
}

/** Reads a whole stream as our own relays do. */
function readWhole({ codec, openStream }: Protocol, frames: readonly Uint8Array[]) {
  const meter = openStream(defaultDialect);
  const roles = frames.map((frame) => meter.read(frame));
  const reader = codec?.openReader(readerContext);
  const events =
    reader === undefined ? [] : [...frames.flatMap((frame) => reader.read(frame)), ...reader.end()];
  return {
    text: textOf(events),
    finish: events.findLast((event) => event.kind === 'finish')?.reason,
    isWhole: roles.includes('terminal') || meter.isWholeWithoutTerminal(),
    refusal: meter.refusal,
    usage: meter.reading.usage,
  };
}

const rest = ' – and here “another” goes on.\n';

/** The frames that were delivered and what is written behind them; null where the stream cannot be gone on with there. */
function continued(
  { protocol, frames }: Recording,
  cut: number,
): { readonly said: string; readonly frames: readonly Uint8Array[] } | null {
  const { codec } = protocol;
  if (codec === null) return null;
  const transcript = new Transcript(uncounted);
  const place = codec.openPlace();
  const reader = codec.openReader(readerContext);
  const delivered = frames.slice(0, cut);
  for (const frame of delivered) {
    place.note(frame);
    transcript.take(reader.read(frame));
  }
  const said = transcript.text;
  if (said === null) return null;
  const writer = place.goOn(writerContext(protocol));
  // One recording leaves out an item: what comes behind it cannot be placed.
  if (writer === null) return null;
  const usage = { ...noUsage, inputFresh: 11, output: 22 };
  const written = [
    writer.write({ kind: 'delta', delta: { kind: 'text', text: rest } }),
    writer.write({ kind: 'block-stop' }),
    writer.write({ kind: 'finish', reason: 'stop', rawReason: 'stop', stopSequence: null, usage }),
    writer.end({ headgate: { rescued: true } }),
  ].join('');
  const added: Uint8Array[] = [];
  new SseSplitter(1_000_000).push(Buffer.from(written), (frame) => added.push(new Uint8Array(frame)));
  return { said, frames: [...delivered, ...added] };
}

/** The places where a stream is broken off: all of them in the slow form. */
function cutsOf({ frames }: Recording): readonly number[] {
  const step = isSlow ? 1 : Math.max(1, Math.floor(frames.length / 25));
  return frames.map((_, place) => place + 1).filter((cut) => cut % step === 0);
}

const all = recordings();

describe.each(all)('$name', (recording) => {
  test('goes on as one stream wherever its words break off', () => {
    for (const cut of cutsOf(recording)) {
      const whole = continued(recording, cut);
      if (whole === null) continue;
      const read = readWhole(recording.protocol, whole.frames);
      const what = `after ${cut} frames`;
      expect(read.refusal, what).toBeNull();
      expect(read, what).toMatchObject({
        isWhole: true,
        finish: 'stop',
        usage: { inputFresh: 11, output: 22 },
      });
      expect(read.text, what).toBe(whole.said + rest);
    }
  });
});

test('some of them are words that can be gone on with', () => {
  const able = all.filter((recording) => cutsOf(recording).some((cut) => continued(recording, cut) !== null));
  console.log(`${able.length} of ${all.length} recorded streams have words that can be gone on with`);
  expect(able.length).toBeGreaterThan(0);
});
