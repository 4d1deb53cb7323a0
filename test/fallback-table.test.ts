import { type Simulator, startSimulator } from '@headgate/simulator';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTestGateway, type TestChannel, type TestGateway } from './support/gateway.ts';
import { entryOfModel } from './support/ledger.ts';
import type { RawAnswer } from './support/raw-http.ts';
import {
  alertsOf,
  callSurface,
  errorCodeOf,
  isComplete,
  type Mode,
  type Surface,
} from './support/surface-calls.ts';

/**
 * The table "Fallback" of routing.md, row by row, in every surface and where one is translated into another: which results
 * of an upstream lead to the next channel, and what a caller sees when all channels give the same one. And throughout: not a
 * word about channels.
 */
interface Row {
  readonly what: string;
  /** What the upstream does, in the simulator's words; null refuses connections. */
  readonly fault: string | null;
  /** Whether the next channel is tried; `once`: a second such result is believed. */
  readonly next: 'yes' | 'once' | 'no';
  /** Status and code when all channels fail; without a code where that is the upstream's own word. */
  readonly seen: string;
  /** In both unless told otherwise. */
  readonly mode?: Mode;
  /** What the operator is told. */
  readonly alert?: string;
  /** It is by its words that this error is known. */
  readonly speaks?: true;
}

const failed = { next: 'yes', seen: '502 upstream_error' } as const;
const silent = { next: 'yes', seen: '504 upstream_timeout' } as const;
const repeatable = { next: 'once', seen: '502 upstream_error' } as const;
const account = { ...failed, alert: 'credential-refused' } as const;
const missing = { next: 'yes', seen: '404 model_not_found', alert: 'model-missing-upstream' } as const;
const broken = { next: 'no', seen: '200 upstream_error', mode: 'stream' } as const;

const rows: readonly Row[] = [
  { what: 'a connection refused', fault: null, ...failed },
  { what: 'a reset before any byte', fault: 'reset-before-head', ...failed },
  { what: '500', fault: '500', ...failed },
  { what: '529', fault: '529', ...failed },
  { what: 'overloaded inside a 200', fault: 'error-before-content', ...failed },
  { what: 'silence', fault: 'stall-before-head', ...silent },
  { what: 'silence behind the role', fault: 'stall-before-content', ...silent },
  { what: 'a reset behind the role', fault: 'reset-before-content', ...failed },
  { what: 'a page in a 200', fault: 'html', ...failed },
  { what: 'a page in a 403', fault: 'html-403', ...failed },
  { what: 'an empty 200', fault: 'empty', ...failed },
  { what: 'a garbled 200', fault: 'garble-before-content', ...failed },
  { what: '408', fault: '408', ...repeatable },
  { what: '409', fault: '409', ...repeatable },
  { what: '425', fault: '425', ...repeatable },
  { what: '429', fault: '429,retry-after=9s', next: 'yes', seen: '429 upstream_rate_limited' },
  { what: '401', fault: '401', ...account },
  { what: '402', fault: '402', ...account },
  {
    what: '403 of an account',
    fault: '403,message=This%20API%20key%20is%20not%20enabled.',
    speaks: true,
    ...account,
  },
  { what: '403 without a reason', fault: '403,message=Forbidden.', speaks: true, ...repeatable },
  {
    what: 'credit exhausted in a 400',
    speaks: true,
    fault: '400,message=Your%20credit%20balance%20is%20too%20low.',
    ...account,
  },
  { what: '404', speaks: true, fault: '404', ...missing },
  { what: 'model_not_found in a 400', speaks: true, fault: '400,code=model_not_found', ...missing },
  { what: '400', fault: '400', next: 'no', seen: '400' },
  { what: '413', fault: '413', next: 'no', seen: '413' },
  { what: '422', fault: '422', next: 'no', seen: '422' },
  {
    what: 'a prompt that is too long',
    speaks: true,
    fault: '400,code=context_length_exceeded',
    next: 'no',
    seen: '400 context_length_exceeded',
  },
  {
    what: 'content policy',
    speaks: true,
    fault: '400,code=content_policy_violation',
    next: 'no',
    seen: '400',
  },
  { what: 'a reset after content', fault: 'reset-mid-stream', ...broken },
  { what: 'an end after content', fault: 'end-mid-stream', ...broken },
  { what: 'an error after content', fault: 'error-mid-stream', ...broken },
  { what: 'silence after content', fault: 'stall-mid-stream', ...broken, seen: '200 upstream_timeout' },
];

/** From whom to whom: the same protocol twice is passed through. */
const lanes = [
  ['chat-completions', 'chat-completions'],
  ['responses', 'responses'],
  ['messages', 'messages'],
  ['generate-content', 'generate-content'],
  ['chat-completions', 'messages'],
  ['messages', 'chat-completions'],
  ['generate-content', 'responses'],
] as const satisfies readonly (readonly [Surface, Surface])[];

const paths: Readonly<Record<Surface, string>> = {
  'chat-completions': '/chat/completions',
  responses: '/responses',
  messages: '/messages',
  'generate-content': '/models/{model}:{action}',
};

/** Words that stand for a channel's id, its name in public, its provider, its model and its credential, and nowhere else. */
const privateWords = ['zebra', 'okapi', 'quagga', 'bongo', 'kudu', '127.0.0.1'];
const upstreamWords = encodeURIComponent(
  'at most 2 for bongo-model of Quagga Works at http://127.0.0.1:9/v1 or 127.0.0.1 with sk-kudu-000000001',
);

const companies = ['failing', 'rescued'] as const;
type Company = (typeof companies)[number];

interface Case extends Row {
  readonly mode: Mode;
  readonly company: Company;
  /** Of its row. */
  readonly place: number;
  /** Names the case's own model and channels: none knows the health another one left behind. */
  readonly name: string;
}

const cases: readonly Case[] = rows.flatMap((row, place) =>
  (['json', 'stream'] as const)
    .filter((mode) => row.mode === undefined || row.mode === mode)
    .flatMap((mode) =>
      companies.map((company) => ({ ...row, mode, company, place, name: `${place}-${mode}-${company}` })),
    ),
);

const well = 'tokens=7,served=public';

/** What a simulator is told that does as the row says. */
function scriptOf({ fault, speaks }: Row): string {
  if (fault === null) return well;
  return speaks === true ? `${well},fault=${fault}` : `${well},message=${upstreamWords},fault=${fault}`;
}

let healthy: Simulator;
/** One for each row, in their order. */
let ailing: readonly Simulator[];

beforeAll(async () => {
  healthy = await startSimulator({ script: well });
  ailing = await Promise.all(rows.map((row) => startSimulator({ script: scriptOf(row) })));
  for (const [place, { fault }] of rows.entries()) if (fault === null) await ailing[place]?.control.goDown();
});
afterAll(async () => {
  await healthy.close();
  for (const simulator of ailing) await simulator.close();
});

/** Three that fail alike; or one, and another that is well. */
function channelsOf(upstream: Surface, { name, company, place }: Case): readonly TestChannel[] {
  const channel = (rank: number, { origin }: Simulator): TestChannel => ({
    id: `zebra-${name}-${rank}`,
    alias: `okapi-${name}-${rank}`,
    name: 'Quagga Works',
    credential: 'sk-kudu-000000001',
    origin,
    models: { [name]: 'bongo-model' },
    protocols: { [upstream]: paths[upstream] },
  });
  const failing = ailing[place] ?? healthy;
  return company === 'failing'
    ? [0, 1, 2].map((rank) => channel(rank, failing))
    : [channel(0, failing), channel(1, healthy)];
}

const tooLong = rows.findIndex(({ what }) => what === 'a prompt that is too long');

/** One for which prompts are too long, another of its width, and one that takes more: the last two are well. */
function narrowAndWide(upstream: Surface): readonly TestChannel[] {
  const widths = [1000, 1000, 100_000];
  return widths.map((contextWindow, rank) => ({
    id: `zebra-width-${rank}`,
    origin: (rank === 0 ? (ailing[tooLong] ?? healthy) : healthy).origin,
    models: { width: 'bongo-model' },
    protocols: { [upstream]: paths[upstream] },
    contextWindow,
  }));
}

describe.each(lanes)('%s, answered in %s', (surface, upstream) => {
  let gateway: TestGateway;

  beforeAll(async () => {
    gateway = await openTestGateway({
      channels: [...cases.flatMap((each) => channelsOf(upstream, each)), ...narrowAndWide(upstream)],
      flags: { 'first-content-timeout': '1s', 'stall-timeout': '1s', 'whole-answer-timeout': '1s' },
    });
  });
  afterAll(async () => gateway[Symbol.asyncDispose]());

  describe.concurrent('when no channel does better', () => {
    test.for(cases.filter(({ company }) => company === 'failing'))(
      '$what is $seen, $mode',
      async ({ name, mode, next, seen }) => {
        const answer = await callSurface(gateway, surface, name, mode);
        const [status, code = errorCodeOf(answer, surface)] = seen.split(' ');
        expect([answer.status, errorCodeOf(answer, surface)]).toEqual([Number(status), code]);
        expect(isComplete(answer, surface, mode)).toBe(false);
        // Three fail alike: all are asked, or one more, or none.
        expect(await askedOf(gateway, name)).toHaveLength({ yes: 3, once: 2, no: 1 }[next]);
        expect(leaksOf(answer)).toEqual([]);
      },
    );
  });

  describe.concurrent('beside a channel that is well', () => {
    test.for(cases.filter(({ company }) => company === 'rescued'))(
      '$what, $mode: the next one is asked: $next',
      async ({ name, mode, next }) => {
        const answer = await callSurface(gateway, surface, name, mode);
        const isRescued = next !== 'no';
        expect(isComplete(answer, surface, mode)).toBe(isRescued);
        const asked = [`zebra-${name}-0`, ...(isRescued ? [`zebra-${name}-1`] : [])];
        expect(await askedOf(gateway, name)).toEqual(asked);
        expect(leaksOf(answer)).toEqual([]);
      },
    );
  });

  test('a prompt that is too long is sent on to a channel that declares to take more', async () => {
    const answer = await callSurface(gateway, surface, 'width', 'stream');
    expect(isComplete(answer, surface, 'stream')).toBe(true);
    expect(await askedOf(gateway, 'width')).toEqual(['zebra-width-0', 'zebra-width-2']);
    expect(leaksOf(answer)).toEqual([]);
  });

  test('what only the operator can mend, the operator is told', async () => {
    const alerts = new Set(rows.flatMap(({ alert }) => alert ?? []));
    const attemptsOf = (alert: string) =>
      cases
        .filter((each) => each.alert === alert)
        .reduce((sum, { company }) => sum + (company === 'failing' ? 3 : 1), 0);
    for (const alert of alerts)
      expect([alert, await alertsOf(gateway, alert)]).toEqual([alert, attemptsOf(alert)]);
  });
});

/** Ids of the channels that were asked, in order. */
async function askedOf(gateway: TestGateway, model: string): Promise<readonly string[]> {
  const { attempts } = await entryOfModel(gateway, model);
  return attempts.map(({ channelId }) => channelId);
}

/** The private words in all that a caller received. */
function leaksOf({ headers, body }: RawAnswer): readonly string[] {
  const received = `${[...headers].join('\n')}\n${body.toString()}`.toLowerCase();
  return privateWords.filter((word) => received.includes(word));
}
