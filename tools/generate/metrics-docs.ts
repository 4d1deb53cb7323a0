/**
 * Writes the tables of `docs/metrics.md`: every metric, as a gateway with one call of each kind exposes it, and every alert.
 * `node tools/generate/metrics-docs.ts`; a test keeps them equal.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import type { AlertKind } from '../../packages/gateway/src/catalogue/alert-kinds.ts';
import { createMetrics } from '../../packages/gateway/src/telemetry/metrics.ts';
import { completeEntry } from '../../packages/gateway/src/telemetry/testing.ts';
import { alignedTable } from './aligned-table.ts';

const page = new URL('../../docs/metrics.md', import.meta.url);

/** What an alert means and what to do about it. */
interface Advice {
  readonly when: string;
  readonly what: string;
}

export const alerts = {
  'balance-exhausted': {
    when: 'A call was refused because its account has no money left.',
    what: 'Credit the account, or tell its owner.',
  },
  'budget-exhausted': {
    when: 'The budget of a key, a group or an account is spent; its calls are refused until the window ends. Once for each window.',
    what: 'Raise the budget if it is meant to go on; the event says when the window ends.',
  },
  'budget-threshold': {
    when: 'Spending has passed the soft threshold of a budget. Once for each window.',
    what: 'Look with `headgate spend` who spends it.',
  },
  bug: {
    when: 'Something failed that no code expects. One call is affected; it ended as `internal`.',
    what: 'Report it with the line of the log; it holds the place in the code and nothing of the call.',
  },
  'channel-out-of-service': {
    when: 'A model of a channel has failed so often that calls go to others. The event ends when it is back.',
    what: '`headgate channels list` and the reason in the event say what it answers; nothing is to be done where others serve the model.',
  },
  'configuration-incomplete': {
    when: 'Something that is configured cannot work: a channel whose provider nobody knows or whose address has a gap, a key without its group or account.',
    what: 'The event says what it is; correct the configuration. The event ends then.',
  },
  'configuration-refused': {
    when: 'The configuration file has changed and is wrong somewhere. What was in force stays.',
    what: 'The event and the log name each mistake and its place.',
  },
  'configuration-withheld': {
    when: 'A configuration file would remove more than half of all channels or keys, or breaks off. It is not applied.',
    what: 'Look at the file. If it is meant, `headgate apply --force`.',
  },
  'cost-drift': {
    when: 'A provider states in its answer a cost that is more than 1 % beside what we reckon. Once an hour for a channel and model.',
    what: 'Correct the `cost` of that model on that channel; `headgate ledger export` has both amounts.',
  },
  'credential-refused': {
    when: 'A provider refuses a credential, or its account has no credit. Calls go to others.',
    what: 'Replace the credential or top up the account; it is tried again by itself.',
  },
  'disk-full': {
    when: 'Less than 1 MB is free where the data directory is. Callers get 503 before anyone is asked; `/readyz` says `disk-full`.',
    what: 'Free some space. Calls are taken again a moment later, without a restart.',
  },
  'events-lost': {
    when: 'More happened while the store was away than is kept in memory; so many events were left out.',
    what: 'Look at the log of that time, which has all of them.',
  },
  'ledger-conflict': {
    when: 'Two different entries have one trace id. The first one stands.',
    what: '`headgate ledger verify`; report it.',
  },
  'ledger-unavailable': {
    when: 'An entry cannot be written. Callers get `store_unavailable`, nothing is served unbilled.',
    what: 'Look at the disk of the data directory: space, permissions, health. `/readyz` says when it is over.',
  },
  'missing-credential': {
    when: 'A credential of a channel is not there. A channel without any is off until one is.',
    what: 'The log says what is missing, and so does `headgate credentials list`. It is taken up as soon as it is there.',
  },
  'odd-answer': {
    when: 'An answer was good in spite of something that its protocol does not have: no tokens at all counted for a text (usage is estimated then, and marked), or text between the events of a stream that is none (left out, and counted). The log names the channel and the model.',
    what: 'Tell the provider. Where the usage of a model is never counted, its calls are charged by estimates.',
  },
  'model-missing-upstream': {
    when: 'A provider does not know a model that a channel says it serves. Calls go to others.',
    what: 'Correct `upstream` of that model on that channel, or take it out of its `models`.',
  },
  'setting-left-out': {
    when: 'A setting that the console keeps is not followed: this version does not know it or its value, or it would keep the gateway from starting.',
    what: 'Make it anew on the settings page, or `headgate settings unset` it. The event ends then.',
  },
  'store-lost': {
    when: 'A file of the store was removed, renamed or replaced while the gateway had it open. Callers get 503; `/readyz` says `store-lost`.',
    what: 'Put back what the log names, as it was: calls are taken again within a second. If it is gone for good, [stop, put back a backup, start](operating.md#backups).',
  },
  'thread-lost': {
    when: 'A thread for long work (translating large requests, counting tokens) has ended by itself, or hung and was ended. The call that it was at got 503; the next one starts a new thread.',
    what: 'The log names the thread and why. `ERR_WORKER_OUT_OF_MEMORY` is a request that is more than its memory; anything else that comes again is worth a report.',
  },
  'unpriced-model': {
    when: 'A model has no price. It is told of when the configuration is loaded (of more than 100 at a time, when they are called), and over when it has one.',
    what: 'Give it one under `prices`, or set `settings.ledger.unpricedModels`.',
  },
  'unpriced-term': {
    when: 'A call asked for, or an answer was given, something that its model has no price for: a service tier, a region, a search.',
    what: 'Price it under `prices` ([billing](billing.md)), or set `settings.ledger.unpricedTerms`. An answer that was given is billed at the standard price.',
  },
  'webhook-failing': {
    when: 'A webhook has not taken an event in several attempts. It is tried on, later and later, for a day.',
    what: '`headgate webhooks list` says what its receiver answers. The event ends with the next one that it takes.',
  },
} satisfies Readonly<Record<AlertKind, Advice>>;

export interface Family {
  readonly name: string;
  readonly type: string;
  readonly help: string;
  readonly labels: readonly string[];
}

/** Every family that a gateway exposes once something of each kind has happened. */
export async function metricFamilies(): Promise<readonly Family[]> {
  const metrics = createMetrics({ ledgerQueued: () => 0, bytesHeld: () => 0 });
  metrics.callStarted();
  const attempts = completeEntry.attempts.map((one) => ({ ...one, statedCostNanoUsd: one.costNanoUsd }));
  metrics.callFinished({ ...completeEntry, attempts, unbilledReason: 'zero_completion' });
  const { traceId } = completeEntry;
  metrics.refused({ platform: 'completions', code: 'invalid_api_key', status: 401, traceId });
  metrics.alertRaised('bug');
  metrics.webhookTried('ops', true);
  metrics.rescued('whole');
  metrics.service.probed('channel', 'answered');
  metrics.service.ejected('channel');
  metrics.service.lacksCredentials(['channel']);
  metrics.service.stand([{ id: 'channel', models: [{ state: 'serving' }] }]);
  metrics.ledgerCommitted(1, 1);
  const { text } = await metrics.expose();
  return text.split('# HELP ').slice(1).map(readFamily);
}

function readFamily(text: string): Family {
  const [head = '', typeLine = '', ...lines] = text.split('\n');
  const [name = '', ...help] = head.split(' ');
  const type = typeLine.split(' ').at(-1) ?? '';
  const labels = new Set(
    lines.flatMap((line) => [...line.matchAll(/[{,](\w+)="/g)].map(([, label = '']) => label)),
  );
  for (const own of ['le', 'quantile']) labels.delete(own);
  return { name, type, help: help.join(' '), labels: [...labels] };
}

/** The page with the tables between its markers brought up to date. Throws when the markers are gone. */
export function withMetricTables(markdown: string, families: readonly Family[]): string {
  const own = families.filter(({ name }) => name.startsWith('headgate_'));
  return Object.entries({
    metrics: alignedTable([['Metric', 'Type', 'Labels', 'Meaning'], ...own.map(cellsOf)]),
    alerts: alignedTable([
      ['Kind', 'What has happened', 'What to do'],
      ...Object.entries(alerts).map(([kind, { when, what }]) => [`\`${kind}\``, when, what]),
    ]),
  }).reduce((text, [name, table]) => between(text, name, table), markdown);
}

function cellsOf({ name, type, help, labels }: Family): readonly string[] {
  return [`\`${name}\``, type, labels.map((label) => `\`${label}\``).join(', '), help];
}

function between(markdown: string, name: string, table: string): string {
  const opening = `<!-- ${name}: generated by tools/generate/metrics-docs.ts -->`;
  const start = markdown.indexOf(opening);
  const end = markdown.indexOf(`<!-- /${name} -->`);
  if (start < 0 || end < start) throw new Error(`docs/metrics.md has lost its markers of ${name}`);
  return `${markdown.slice(0, start)}${opening}\n\n${table}\n\n${markdown.slice(end)}`;
}

if (import.meta.main)
  writeFileSync(page, withMetricTables(readFileSync(page, 'utf8'), await metricFamilies()));
