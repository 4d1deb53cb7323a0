import { faultNames, type Simulator, startSimulator } from '@headgate/simulator';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTestGateway, type TestChannel, type TestGateway } from './support/gateway.ts';
import { entryOfModel } from './support/ledger.ts';
import { ownAddress } from './support/own-address.ts';
import type { RawAnswer } from './support/raw-http.ts';
import { isSlow } from './support/slow-form.ts';
import {
  alertsOf,
  callSurface,
  errorCodeOf,
  isComplete,
  type Mode,
  type Surface,
} from './support/surface-calls.ts';

/** The consequence of one result of an upstream. */
interface Consequence {
  /** The next channel is tried, or not; `once`: a second such result is believed. */
  readonly next: 'yes' | 'once' | 'no';
  /** Status and code when all channels fail; without a code where that is the upstream's own word. 200: the answer had begun. */
  readonly seen: string;
  /** How the attempt is recorded. */
  readonly result: string;
}

/**
 * The table "Fallback" of routing.md, row by row, in every surface and where one is translated into another: which results
 * of an upstream lead to the next channel, what a caller sees when all channels give the same one, and what the ledger
 * says. And throughout: not a word about channels.
 */
interface Row extends Consequence {
  readonly what: string;
  /** The upstream's doing, in the simulator's words; null refuses connections. */
  readonly fault: string | null;
  /** Set if a stream differs from a whole answer. */
  readonly stream?: Consequence;
  /** In both unless told otherwise. */
  readonly mode?: Mode;
  /** The alert that the operator is told. */
  readonly alert?: string;
  /** It is by its words that this error is known. */
  readonly speaks?: true;
  /** A protocol that has no word for it. */
  readonly unsaidIn?: Surface;
  /** Protocols whose own clients read such a stream as a whole one (ADR 35): so does everybody here. */
  readonly wholeIn?: readonly Surface[];
  /** A channel that is alone is not asked again. */
  readonly final?: true;
  /** It is the request that is wrong, although another channel is asked. */
  readonly wrong?: true;
}

const failed = { next: 'yes', seen: '502 upstream_error', result: 'refused' } as const;
const unreachable = { ...failed, result: 'unreachable' } as const;
const cut = { ...failed, result: 'cut_before_content' } as const;
const silent = { next: 'yes', seen: '504 upstream_timeout', result: 'timed_out', final: true } as const;
const repeatable = { ...failed, next: 'once' } as const;
const account = { ...failed, alert: 'credential-refused', final: true } as const;
const missing = {
  ...failed,
  seen: '404 model_not_found',
  alert: 'model-missing-upstream',
  final: true,
} as const;
const callers = { next: 'no', result: 'refused' } as const;
const brokenOff = { next: 'no', seen: '200 upstream_error', result: 'cut_after_content' } as const;
const goneSilent = { next: 'no', seen: '200 upstream_timeout', result: 'timed_out' } as const;

const rows: readonly Row[] = [
  { what: 'a connection refused', fault: null, ...unreachable },
  { what: 'a reset before any byte', fault: 'reset-before-head', ...unreachable },
  { what: 'an end before any byte', fault: 'end-before-head', ...unreachable },
  { what: 'a cut before any byte', fault: 'cut-before-head', ...unreachable },
  { what: 'what is no HTTP', fault: 'garble-before-head', ...cut },
  { what: '500', fault: '500', ...failed },
  { what: '502', fault: '502', ...failed },
  { what: '503', fault: '503', ...failed },
  { what: '504', fault: '504', ...failed },
  { what: '529', fault: '529', ...failed },
  { what: 'overloaded inside a 200', fault: 'error-before-content', ...failed },
  { what: 'silence', fault: 'stall-before-head', ...silent },
  { what: 'silence behind the role', fault: 'stall-before-content', ...silent },
  { what: 'a reset behind the role', fault: 'reset-before-content', ...cut },
  { what: 'a cut behind the role', fault: 'cut-before-content', ...cut },
  { what: 'an end behind the role', fault: 'end-before-content', ...failed, stream: cut },
  { what: 'a page in a 200', fault: 'html', ...failed },
  { what: 'a page in a 403', fault: 'html-403', ...failed },
  { what: 'an empty 200', fault: 'empty', ...failed, stream: cut },
  { what: 'a garbled 200', fault: 'garble-before-content', ...failed },
  { what: '408', fault: '408', ...repeatable },
  { what: '409', fault: '409', ...repeatable },
  { what: '425', fault: '425', ...repeatable },
  { what: '429', fault: '429', ...failed, seen: '429 upstream_rate_limited' },
  {
    what: '429 for a while',
    fault: '429,retry-after=9s',
    ...failed,
    seen: '429 upstream_rate_limited',
    final: true,
  },
  {
    what: 'no quota in a 429',
    fault: '429,code=insufficient_quota',
    speaks: true,
    unsaidIn: 'generate-content',
    ...account,
  },
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
  { what: '400', fault: '400', ...callers, seen: '400' },
  { what: '413', fault: '413', ...callers, seen: '413' },
  { what: '422', fault: '422', ...callers, seen: '422' },
  {
    what: 'a prompt that is too long',
    speaks: true,
    fault: '400,code=context_length_exceeded',
    ...callers,
    // It may not be too long for another of which nobody knows what it takes.
    next: 'once',
    final: true,
    wrong: true,
    seen: '400 context_length_exceeded',
  },
  {
    what: 'content policy',
    speaks: true,
    fault: '400,code=content_policy_violation',
    ...callers,
    seen: '400',
  },
  { what: 'a reset after content', fault: 'reset-mid-stream', ...cut, stream: brokenOff },
  { what: 'an end after content', fault: 'end-mid-stream', ...failed, stream: brokenOff },
  { what: 'a cut after content', fault: 'cut-mid-stream', ...cut, stream: brokenOff },
  {
    what: 'garbled after content',
    fault: 'garble-mid-stream',
    ...failed,
    stream: brokenOff,
    wholeIn: ['messages'],
  },
  { what: 'an error after content', fault: 'error-mid-stream', ...failed, stream: brokenOff },
  { what: 'silence after content', fault: 'stall-mid-stream', ...silent, stream: goneSilent },
  { what: 'a reset before the end', fault: 'reset-before-done', ...cut, stream: brokenOff },
  {
    what: 'an end before the end',
    fault: 'end-before-done',
    ...failed,
    stream: brokenOff,
    wholeIn: ['chat-completions', 'messages'],
  },
  { what: 'a cut before the end', fault: 'cut-before-done', ...cut, stream: brokenOff },
  {
    what: 'garbled before the end',
    fault: 'garble-before-done',
    ...failed,
    stream: brokenOff,
    wholeIn: ['messages'],
  },
  { what: 'an error before the end', fault: 'error-before-done', ...failed, stream: brokenOff },
  { what: 'silence before the end', fault: 'stall-before-done', ...silent, stream: goneSilent },
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

/** Channels of a case: three that fail alike, the first of them alone, or it and another that is well. */
const companies = ['failing', 'alone', 'rescued'] as const;
type Company = (typeof companies)[number];

interface Case extends Row {
  readonly mode: Mode;
  readonly company: Company;
  /** The place of its row. */
  readonly place: number;
  /** Names the case's own model and channels: none knows the health another one left behind. */
  readonly name: string;
}

const cases: readonly Case[] = rows.flatMap((row, place) =>
  (['json', 'stream'] as const)
    .filter((mode) => row.mode === undefined || row.mode === mode)
    .flatMap((mode) =>
      companies.map((company) => {
        const consequence = mode === 'stream' ? row.stream : undefined;
        return { ...row, ...consequence, mode, company, place, name: `${place}-${mode}-${company}` };
      }),
    ),
);

/**
 * Everything in every lane in the slow form. Otherwise a channel is alone in the first lane only, as to ask it again is not a
 * matter of protocols, and in translated lanes rows take turns at being a stream.
 */
function casesOf(surface: Surface, upstream: Surface): readonly Case[] {
  const said = cases.filter((each) => each.unsaidIn !== upstream && !isWhole(each, upstream));
  if (isSlow) return said;
  return said.filter(({ company, mode, place }) => {
    if (company === 'alone') return surface === 'chat-completions' && upstream === surface;
    return surface === upstream || mode === (place % 2 === 0 ? 'json' : 'stream');
  });
}

function isWhole({ wholeIn, mode }: Case, upstream: Surface): boolean {
  return mode === 'stream' && wholeIn?.includes(upstream) === true;
}

const promptTokens = 3;
const answerTokens = 7;
const well = `tokens=${answerTokens},served=public`;

/** The script of a simulator that does as the row says. */
function scriptOf({ fault, speaks }: Row): string {
  if (fault === null) return well;
  return speaks === true ? `${well},fault=${fault}` : `${well},message=${upstreamWords},fault=${fault}`;
}

let healthy: Simulator;
/** One for each row, in their order. */
let ailing: readonly Simulator[];

beforeAll(async () => {
  healthy = await startSimulator({ script: well });
  ailing = await Promise.all(rows.map((row) => startSimulator({ script: scriptOf(row), host: ownAddress })));
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
  switch (company) {
    case 'failing':
      return [0, 1, 2].map((rank) => channel(rank, failing));
    case 'alone':
      return [channel(0, failing)];
    case 'rescued':
      return [channel(0, failing), channel(1, healthy)];
    default:
      return company satisfies never;
  }
}

const tooLong = rows.findIndex(({ what }) => what === 'a prompt that is too long');

/**
 * How long a channel may say nothing: longer than all others take together when everything is asked for at once, and so short
 * that three silent attempts end before a caller is told, after 10 s, that its call lives: then it is no 504 any more.
 */
const silence = isSlow ? '2s' : '1500ms';

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

test('every fault the simulator has is in the table', () => {
  const faults = new Set(rows.map(({ fault }) => fault));
  expect(faultNames.filter((fault) => !faults.has(fault))).toEqual(['wrong-type']);
});

describe.each(lanes)('%s, answered in %s', (surface, upstream) => {
  const held = casesOf(surface, upstream);
  const whole = cases.filter((each) => each.company === 'alone' && isWhole(each, upstream));
  const inCompany = (wanted: Company) => held.filter(({ company }) => company === wanted);
  let gateway: TestGateway;

  beforeAll(async () => {
    gateway = await openTestGateway({
      channels: [
        ...[...held, ...whole].flatMap((each) => channelsOf(upstream, each)),
        ...narrowAndWide(upstream),
      ],
      flags: { 'first-content-timeout': silence, 'stall-timeout': silence, 'whole-answer-timeout': silence },
    });
  });
  afterAll(async () => gateway[Symbol.asyncDispose]());

  describe.concurrent('when no channel does better', () => {
    test.for(inCompany('failing'))('$what is $seen, $mode', async (each) => {
      const call = await callCase(gateway, surface, each);
      expectFailure(call, surface, each);
      // Three fail alike: all are asked, or one more, or none.
      expect(call.asked).toHaveLength({ yes: 3, once: 2, no: 1 }[each.next]);
    });

    test.for(inCompany('alone'))('$what of the only channel is $seen, $mode', async (each) => {
      const call = await callCase(gateway, surface, each);
      expectFailure(call, surface, each);
      expect(call.asked.length > 1).toBe(each.next !== 'no' && each.final !== true);
    });
  });

  describe.concurrent('beside a channel that is well', () => {
    test.for(inCompany('rescued'))('$what, $mode: the next one is asked: $next', async (each) => {
      const call = await callCase(gateway, surface, each);
      if (each.next === 'no') {
        expectFailure(call, surface, each);
        expect(call.asked).toEqual([`zebra-${each.name}-0`]);
        return;
      }
      expect(isComplete(call.answer, surface, each.mode)).toBe(true);
      expect(call.asked).toEqual([`zebra-${each.name}-0`, `zebra-${each.name}-1`]);
      expect(call.entry.attempts.map(({ result }) => result)).toEqual([each.result, 'answered']);
      // A million tokens cost 1 USD in and 2 USD out: nothing is paid for what failed.
      const chargeNanoUsd = BigInt(promptTokens * 1000 + answerTokens * 2000);
      expect(call.entry).toMatchObject({ status: 'complete', unbilledReason: null, chargeNanoUsd });
    });
  });

  test.for(whole)('$what is whole all the same, $mode', async (each) => {
    const { answer, entry } = await callCase(gateway, surface, each);
    expect(isComplete(answer, surface, each.mode)).toBe(true);
    expect(entry).toMatchObject({ status: 'complete', unbilledReason: null });
    expect(entry.attempts[0]?.edits.join()).toMatch(/stream-end|frames-skipped=1|^$/);
  });

  test('a prompt that is too long is sent on to a channel that takes more, past one that does not', async () => {
    const answer = await callSurface(gateway, surface, 'width', 'stream');
    expect(isComplete(answer, surface, 'stream')).toBe(true);
    const { attempts } = await entryOfModel(gateway, 'width');
    expect(attempts.map(({ channelId }) => channelId)).toEqual(['zebra-width-0', 'zebra-width-2']);
    expect(leaksOf(answer)).toEqual([]);
  });

  test('what only the operator can mend, the operator is told', async () => {
    const alerts = new Set(rows.flatMap(({ alert }) => alert ?? []));
    const attemptsOf = (alert: string) =>
      held
        .filter((each) => each.alert === alert)
        .reduce((sum, { company }) => sum + (company === 'failing' ? 3 : 1), 0);
    for (const alert of alerts)
      expect([alert, await alertsOf(gateway, alert)]).toEqual([alert, attemptsOf(alert)]);
  });
});

/** One call of a case, as its caller and the ledger saw it, which tell nobody else of the channels. */
async function callCase(gateway: TestGateway, surface: Surface, { name, mode }: Case) {
  const answer = await callSurface(gateway, surface, name, mode);
  const entry = await entryOfModel(gateway, name);
  // Ids of the channels that were asked, in order.
  const asked = entry.attempts.map(({ channelId }) => channelId);
  expect(answer.headers.get('x-trace-id')).toBe(entry.traceId);
  expect(answer.headers.get('x-headgate-attempts')).toBe(String(asked.length));
  expect(leaksOf(answer)).toEqual([]);
  return { answer, entry, asked };
}

type CalledCase = Awaited<ReturnType<typeof callCase>>;

/** An answer that had begun ends with the error and no sign of an end. */
const lastWords: Readonly<Record<Surface, RegExp>> = {
  'chat-completions': /\ndata: \{"error":.*\}\n\n$/,
  responses: /\nevent: error\ndata: \{.*\}\n\nevent: response\.failed\ndata: \{.*\}\n\n$/,
  messages: /\nevent: error\ndata: \{"type":"error".*\}\n\n$/,
  'generate-content': /\ndata: \{"error":.*\}\r\n\r\n$/,
};

/** The mark that stands once in an answer that broke off. */
const errorMarks: Readonly<Record<Surface, RegExp>> = {
  'chat-completions': /"error":\{/g,
  responses: /event: error\n/g,
  messages: /event: error\n/g,
  'generate-content': /"error":\{/g,
};

function expectFailure({ answer, entry }: CalledCase, surface: Surface, each: Case): void {
  const [status, code = errorCodeOf(answer, surface)] = each.seen.split(' ');
  expect([answer.status, errorCodeOf(answer, surface)]).toEqual([Number(status), code]);
  expect(isComplete(answer, surface, each.mode)).toBe(false);
  if (status === '200') {
    expect(answer.isWhole).toBe(false);
    expect(answer.body.toString()).toMatch(lastWords[surface]);
    expect(answer.body.toString().match(errorMarks[surface])).toHaveLength(1);
  } else {
    expect(answer.isWhole).toBe(true);
    expect(answer.headers.get('content-type')).toBe('application/json');
  }
  expect(new Set(entry.attempts.map(({ result }) => result))).toEqual(new Set([each.result]));
  expect(entry).toMatchObject({ chargeNanoUsd: 0n, httpStatus: answer.status, ...endingOf(each) });
}

/** How the ledger tells such an end (ledger.md, "One entry per call"). */
function endingOf({ seen, next, wrong, result }: Case) {
  if (seen.startsWith('200')) return { status: 'failed', unbilledReason: 'cut_after_content' };
  if (result === 'timed_out') return { status: 'timed_out', unbilledReason: 'timed_out' };
  const isWrong = next === 'no' || wrong === true;
  return { status: 'failed', unbilledReason: isWrong ? 'refused_by_upstream' : 'upstream_failed' };
}

/** The private words in all that a caller received. */
function leaksOf({ headers, body }: RawAnswer): readonly string[] {
  const received = `${[...headers].join('\n')}\n${body.toString()}`.toLowerCase();
  return privateWords.filter((word) => received.includes(word));
}
