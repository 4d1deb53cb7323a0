import { demoDeclaration, demoGroups } from '../../../packages/gateway/src/admin/demo.ts';
import { newPerson } from '../../../packages/gateway/src/admin/people/sign-in.ts';
import { accountFields, keyFields } from '../../../packages/gateway/src/catalogue/entities.ts';
import { declare } from '../../../packages/gateway/src/catalogue/fields.ts';
import type { RunningGateway } from '../../../packages/gateway/src/main.ts';
import { nanoUsd } from '../../../packages/gateway/src/money/money.ts';
import type { AuditRow } from '../../../packages/gateway/src/ports/audit.ts';
import type { Declaration } from '../../../packages/gateway/src/ports/configuration-store.ts';
import type { EventNews } from '../../../packages/gateway/src/ports/events.ts';
import type { CallEntry } from '../../../packages/gateway/src/ports/ledger.ts';
import { sampleAttempt, sampleEntry, settle } from '../../../packages/gateway/src/store/contract/samples.ts';

/** How much of everything a deployment has, and how it is called. */
export interface Planting {
  /** Rows of every list that is paged. */
  readonly rows: number;
  /** Channels, groups and webhooks, of which no deployment has as many. */
  readonly few: number;
  /** Calls; as many as rows if left out. */
  readonly calls?: number;
  /** Text that somebody has written, for the row at this place. */
  readonly text: (at: number) => string;
  /** Names that must be words of letters, digits and dashes. */
  readonly id: (noun: string, at: number) => string;
}

/** The first of everything, by which its own page is found. */
export interface Planted {
  readonly account: string;
  readonly group: string;
  readonly channel: string;
  readonly model: string;
  readonly key: string;
  readonly call: string;
  readonly webhook: string;
}

/** Flags of a gateway that has nothing to begin with. */
export const withoutDemo = { demo: 'false', 'demo-history': 'false' };

/** Names that nothing has. */
export const nothing: Planted = {
  ...{ account: 'none', group: 'none', channel: 'none', model: 'none', key: 'none' },
  call: '0'.repeat(32),
  webhook: 'none',
};

/** Members of the account `demo` look at it. */
export const oneOfEach: Planting = {
  ...{ rows: 1, few: 1 },
  text: (at) => `Row ${at}`,
  id: (noun, at) => (noun === 'account' && at === 0 ? 'demo' : `${noun}-${at}`),
};

const timeId = (atMs: number, at: number) =>
  atMs.toString(16).padStart(12, '0') + at.toString(16).padStart(20, '0');
const places = (count: number) => Array.from({ length: count }, (_, at) => at);

/** Fills a gateway that has nothing: every list of the console gets its rows, by the ways that rows take. */
export async function plant(gateway: RunningGateway, planting: Planting): Promise<Planted> {
  const { store } = gateway;
  const nowMs = Date.now();
  const { rows, id } = planting;
  const planted: Planted = {
    ...{ account: id('account', 0), group: id('group', 0), channel: id('channel', 0) },
    ...{ model: id('model', 0), key: id('key', 0), call: timeId(nowMs - 60_000, 0) },
    webhook: id('webhook', 0),
  };
  await store.configuration.apply('console', declarationOf(planting), nowMs);
  await Promise.all([
    ...places(planting.calls ?? rows).map((at) => settle(store.ledger, callOf(planting, nowMs, at))),
    ...places(rows).map((at) => store.audit.write(auditOf(planting, nowMs, at))),
    ...places(rows).map((at) => store.people.insert(personOf(planting, nowMs, at), false)),
    store.events.record(
      places(rows).map((at) => eventOf(planting, nowMs, at)),
      nowMs,
    ),
    plantStatus(gateway, planting, nowMs),
    plantMoney(gateway, planting, planted.account, nowMs),
  ]);
  await store.catchUp();
  while (!gateway.catalogue.current.channels.has(planted.channel))
    await new Promise((done) => setTimeout(done, 50));
  return planted;
}

/** Channels are as those of a demonstration, and lead to its upstream. */
function declarationOf({ rows, few, text, id }: Planting): Declaration {
  const {
    models: [model],
    channels: [channel],
  } = demoDeclaration([]);
  const [group] = demoGroups;
  if (model === undefined || channel === undefined || group === undefined)
    throw new Error('no demonstration');
  const served = channel.models.slice(0, 1).map((one) => ({ ...one, modelId: id('model', 0) }));
  return {
    providers: {},
    accounts: places(rows).map((at) => ({
      id: id('account', at),
      ...declare(accountFields, text(at), {
        name: text(at),
        prepaid: at % 2 === 1,
        budgets: { month: '100', alertAt: '0.5' },
      }),
    })),
    groups: places(few).map((at) => ({ ...group, id: id('group', at), name: text(at) })),
    models: places(rows).map((at) => ({
      ...model,
      id: id('model', at),
      displayName: text(at),
      listed: at < 50,
    })),
    channels: places(few).map((at) => ({
      ...{
        ...channel,
        id: id('channel', at),
        alias: text(at),
        models: served,
        listed: at < 50 ? true : null,
      },
      priority: at % 10,
    })),
    keys: places(rows).map((at) => ({
      id: id('key', at),
      ...declare(keyFields, text(at), {
        name: text(at),
        account: id('account', 0),
        group: id('group', 0),
        budgets: { day: '2.5' },
      }),
      hash: at.toString(16).padStart(64, '0'),
      hint: 'sk-a…z',
    })),
    webhooks: places(Math.min(few, 50)).map((at) => ({
      id: id('webhook', at),
      ...{ description: text(at), enabled: true },
      // Nobody listens there.
      ...{ url: `http://127.0.0.1:9/${encodeURIComponent(text(at))}`, kinds: ['bug'], severity: 'error' },
      ...{ allowPrivate: true, secret: { kind: 'environment', name: 'HEADGATE_NO_SUCH_SECRET' } },
    })),
  };
}

/** Every ninth call fails in the upstream's own words. */
function callOf({ text, id }: Planting, nowMs: number, at: number): CallEntry {
  const startedAtMs = nowMs - 60_000 - at * 61_000;
  const words = text(at);
  const isFailed = at % 9 === 8;
  const channelId = id('channel', 0);
  return sampleEntry({
    ...{ traceId: timeId(startedAtMs, at), startedAtMs, finishedAtMs: startedAtMs + 900 },
    ...{ accountId: id('account', 0), keyId: id('key', 0), groupId: id('group', 0) },
    ...{ modelRequested: at % 2 === 0 ? id('model', 0) : words, channelId, modelServed: words },
    ...{ tag: words, userAgent: words, clientRequestId: words, losses: [words] },
    ...{ finishReasonRaw: words, chargeNanoUsd: nanoUsd(BigInt(at % 97) * 123_456n) },
    attempts: [
      sampleAttempt({
        channelId,
        result: 'refused',
        detail: words,
        httpStatus: 500,
        usage: null,
        edits: [words],
      }),
      sampleAttempt({ n: 2, channelId, upstreamModel: words, upstreamRequestId: words }),
    ],
    route: JSON.stringify([[0, 'score', channelId, 1, [channelId, words, 0, 1_240_000, 9_970, 10_000], []]]),
    ...(isFailed
      ? {
          ...{ status: 'failed', unbilledReason: 'upstream_failed', errorCode: words },
          chargeNanoUsd: nanoUsd(0n),
        }
      : {}),
  });
}

function auditOf({ text, id }: Planting, nowMs: number, at: number): AuditRow {
  const atMs = nowMs - 30_000 - at * 1_000;
  return {
    id: timeId(atMs, at),
    atMs,
    actor: { kind: 'person', personId: null, name: text(at) },
    action: 'key.change',
    target: { kind: 'key', id: id('key', at), name: text(at) },
    accountId: id('account', 0),
    before: { name: text(at), budgets: { day: '1' } },
    after: { name: text(at + 1), budgets: { day: '2' } },
    address: '203.0.113.7',
  };
}

function personOf({ text, id }: Planting, nowMs: number, at: number) {
  const person = newPerson({ login: `${id('person', at)}@example.com`, name: text(at) }, nowMs);
  return {
    ...person,
    memberships: at < 300 ? [{ accountId: id('account', 0), role: 'viewer' as const }] : [],
  };
}

function eventOf({ text, id }: Planting, nowMs: number, at: number): EventNews {
  const atMs = nowMs - 45_000 - at * 1_000;
  return {
    ...{ id: timeId(atMs, at), kind: 'channel-out-of-service', severity: 'warning' },
    subject: `channel:${id('channel', 0)}/${text(at)}`,
    detail: { channel: id('channel', 0), model: text(at), reason: text(at) },
    ...{ count: 1, firstAtMs: atMs, lastAtMs: atMs, endedAtMs: at % 2 === 0 ? null : atMs + 500 },
    ...{ fold: `${at}`, foldMs: 1_000, webhooks: [] },
  };
}

/** A model and a channel that were away for a while, with an operator's words, and maintenance of tomorrow. */
async function plantStatus(
  { store: { status } }: RunningGateway,
  { few, text, id }: Planting,
  nowMs: number,
) {
  const nothing = { good: 0, bad: 0, probesGood: 0, probesBad: 0, spread: '' };
  const subjects = places(Math.min(few, 20)).map((at) => ({
    kind: 'channel' as const,
    name: id('channel', at),
  }));
  const cellMs = 300_000;
  const cells = places(24).flatMap((back) => {
    const startMs = nowMs - (nowMs % cellMs) - (back + 2) * cellMs;
    return subjects.map((subject) => ({
      ...{ ...nothing, ...subject, startMs },
      ...(back > 12 ? { bad: 30, good: 0 } : { good: 30 }),
    }));
  });
  await status.add(cells, nowMs);
  await status.judge(subjects, nowMs);
  for (const { incident } of await status.incidents(1_000, null))
    await status.addWords(incident, { en: text(incident), zh: text(incident) }, text(0), nowMs);
  await status.addMaintenance({
    ...{ title: { en: text(1), zh: text(1) }, fromMs: nowMs + 86_400_000, toMs: nowMs + 90_000_000 },
    ...{ subjects: null, author: text(0) },
  });
}

async function plantMoney(
  { store }: RunningGateway,
  { text, few }: Planting,
  accountId: string,
  nowMs: number,
) {
  for (const at of places(Math.min(few, 300)))
    await store.accounts.adjust(
      {
        ...{ id: `adjustment-${at}`, accountId, amountNanoUsd: nanoUsd(5_000_000_000n), reason: text(at) },
        ...{ reference: null, madeBy: text(at), atMs: nowMs - at * 1_000 },
      },
      true,
    );
}
