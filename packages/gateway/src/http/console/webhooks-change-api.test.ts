import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fail } from '@headgate/protocols';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { parse } from 'yaml';
import { type ConfigurationService, openConfigurationService } from '../../admin/configuration-service.ts';
import { declareFile } from '../../admin/declare/declare-file.ts';
import { exportConfiguration } from '../../admin/export-configuration.ts';
import { commandLine } from '../../admin/people/actor.ts';
import type { PieceTools } from '../../admin/piecewise.ts';
import { withoutConsole } from '../../admin/settings/layered-settings.ts';
import { RunningSettings } from '../../admin/settings/running-settings.ts';
import { createWebhook, rotateWebhook } from '../../admin/webhooks/change-webhooks.ts';
import { secretsNow, type Webhook } from '../../catalogue/webhooks.ts';
import { readConfigurationFile } from '../../config/configuration-file.ts';
import { loadSettings } from '../../config/load-settings.ts';
import { environmentOf } from '../../config.ts';
import { postMessage } from '../../events/post-message.ts';
import { testMessage } from '../../events/webhook-message.ts';
import type { EventNews } from '../../ports/events.ts';
import type { Store } from '../../ports/store.ts';
import { Router } from '../../route/router.ts';
import { epochMs, traceId } from '../../store/contract/samples.ts';
import { openSqliteStore } from '../../store/sqlite/open-sqlite-store.ts';
import { SameThreadLane } from '../../store/sqlite/same-thread-lane.ts';
import { openUpstream } from '../../upstream/channels.ts';
import { HttpClient } from '../../upstream/client.ts';
import { noCalls } from './calls-api.fixture.ts';
import { configurationApi } from './configuration-api.ts';
import { consoleSources } from './console-sources.ts';
import { testApi } from './frame/test-api.fixture.ts';
import { webhooksApi } from './webhooks-api.ts';

let nowMs = epochMs;
/** Every look at it is a moment later, so that what follows has an order. */
const clock = { now: () => ++nowMs, monotonic: () => nowMs };
const silent = () => undefined;
const logger = { debug: silent, info: silent, warn: silent, error: silent };

interface Process {
  readonly store: Store;
  readonly service: ConfigurationService;
  webhooks: readonly Webhook[];
}

let received: IncomingHttpHeaders[] = [];
let receiver: Server;
let url = '';
let directory = '';
let client: HttpClient;
let current: Process;
let processes: Process[] = [];
let ask: ReturnType<typeof testApi>;

beforeEach(async () => {
  [received, processes] = [[], []];
  receiver = createServer((request, response) => {
    received.push(request.headers);
    response.writeHead(204).end();
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => receiver.once('listening', resolve));
  url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/in?token=canary`;
  directory = mkdtempSync(join(tmpdir(), 'headgate-webhooks-'));
  client = new HttpClient();
  await begin();
});

afterEach(async () => {
  for (const { service, store } of processes) {
    await service.close();
    await store.close();
  }
  await client.close();
  receiver.closeAllConnections();
  receiver.close();
  rmSync(directory, { recursive: true });
});

/** One process on the directory; the last that begins is asked. */
async function begin(file: string | null = null): Promise<Process> {
  const store = await openSqliteStore({
    openLane: (...lane) => new SameThreadLane(...lane),
    file: join(directory, 'headgate.sqlite'),
    ...{ durability: 'strict', clock, onAlarm: silent },
  });
  const config = join(directory, 'headgate.yaml');
  if (file !== null) writeFileSync(config, file);
  const flags = { 'data-dir': join(directory, 'data'), ...(file === null ? {} : { config }) };
  const settings = loadSettings(flags, environmentOf({}), directory);
  if (!settings.ok) throw new Error('settings');
  let webhooks: readonly Webhook[] = [];
  const opened = await openConfigurationService({
    settings: { ...settings.value.settings, demo: false },
    ...{ environment: environmentOf({ OPS: 'a secret of a place' }), store: store.configuration },
    ...{ clock, logger, alerts: { raise: silent, over: silent } },
    onCatalogue: (built) => {
      webhooks = built.webhooks;
    },
    variable: () => Promise.resolve(null),
  });
  if (!opened.ok) throw new Error(JSON.stringify(opened.error));
  const service = opened.value;
  const begun: Process = {
    ...{ store, service },
    get webhooks() {
      return webhooks;
    },
  };
  processes.push(begun);
  const post = (name: string) => {
    const webhook = begun.webhooks.find(({ id }) => id === name);
    const message = webhook && testMessage('m', 'd', secretsNow(webhook, clock.now()), clock.now());
    return webhook === undefined || message === undefined ? null : postMessage(client, webhook, message);
  };
  const router = new Router({ attemptsMax: 3, uniform: () => 0.5, hashCredential: service.hashCredential });
  const parts = {
    ...{ store, configuration: service, settings: settings.value.settings, router, clock },
    ...{ live: noCalls.live, upstream: openUpstream(client) },
    restart: () => Promise.resolve(fail('not here')),
    events: {
      get webhooks() {
        return begun.webhooks;
      },
      ...{ nextNews: () => Promise.resolve(), postTest: post },
    },
    status: {
      keeper: { subjects: [], changed: silent },
      deployment: () => {
        throw new Error('not here');
      },
    },
    tokens: { operator: 'operator', scrape: 'scrape' },
    runningSettings: new RunningSettings(withoutConsole(settings.value.settings), environmentOf({})),
    ...{ environment: environmentOf({}), log: { logger: { warn: silent } }, holds: { idle: () => 0n } },
    askWeb: () => Promise.reject(new Error()),
    signIn: { peppers: [{ version: 1, secret: new Uint8Array(32) }] as const, oidc: null },
  };
  const sources = consoleSources(parts, { apiOrigin: '', consoleOrigin: '' });
  ask = testApi(
    (api) => {
      webhooksApi(api, sources);
      configurationApi(api, sources);
    },
    { nowMs },
  );
  current = begun;
  return begun;
}

const draft = (more: object = {}) => ({ name: 'ops', url, allowPrivate: true, ...more });
const audited = async () => (await current.store.audit.list({ accounts: 'all' }, 50, null)).toReversed();
const secretsOf = ({ webhooks }: Process) =>
  webhooks.map(({ secrets }) => secrets.map(({ secret }) => secret));

describe('a webhook of the console', () => {
  test('is made with a secret that is told once, changed, turned off and taken away, each with its row of the audit', async () => {
    const other = await begin();
    const made = await ask('POST', '/webhooks', draft({ description: 'The room', kinds: ['bug'] }));
    expect(made).toMatchObject({
      status: 201,
      json: {
        secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/) as string,
        webhook: {
          ...{ name: 'ops', description: 'The room', kinds: ['bug'], enabled: true, isReady: true },
          ...{ source: 'console', declared: false, keeps: 'store', formerUntil: null },
          origin: new URL(url).origin,
        },
      },
    });
    const secret = String(made.json['secret']);
    expect(secretsOf(current)).toEqual([[secret]]);
    expect(readFileSync(join(directory, 'headgate.sqlite')).includes(secret)).toBe(false);
    const shown = await ask('GET', '/webhooks/ops');
    expect(shown.text).not.toMatch(/whsec|canary/);
    expect(await ask('PATCH', '/webhooks/ops', { kinds: null, severity: 'warning' })).toMatchObject({
      json: { kinds: null, severity: 'warning', description: 'The room' },
    });
    expect(await ask('PATCH', '/webhooks/ops', { url: `${url}-2` })).toMatchObject({ status: 200 });
    expect(await ask('PATCH', '/webhooks/ops', { enabled: false })).toMatchObject({
      json: { enabled: false },
    });
    expect(other.webhooks).toMatchObject([{ enabled: false, url: `${url}-2`, severity: 'warning' }]);
    expect(await ask('DELETE', '/webhooks/ops')).toMatchObject({ status: 204 });
    expect(await ask('GET', '/webhooks/ops')).toMatchObject({ status: 404 });
    expect(current.webhooks).toEqual([]);
    const rows = await audited();
    expect(rows.map(({ action }) => action)).toEqual([
      ...['webhook.create', 'webhook.change', 'webhook.change', 'webhook.change', 'webhook.remove'],
    ]);
    expect(rows[1]).toMatchObject({ before: { kinds: ['bug'] }, after: { severity: 'warning' } });
    expect(rows[2]?.after).toEqual({ address: `${new URL(url).origin}, another path` });
    expect(JSON.stringify(rows)).not.toMatch(/whsec|canary/);
  });

  test('is taken up by every process at its next look, and signs what it sends', async () => {
    const another = current;
    await begin();
    const { json } = await ask('POST', '/webhooks', draft());
    expect(another.webhooks).toEqual([]);
    await another.service.poll();
    expect(secretsOf(another)).toEqual([[json['secret']]]);
    expect((await ask('POST', '/webhooks/ops/test')).json).toMatchObject({ problem: null });
    expect(received).toMatchObject([{ 'webhook-signature': expect.stringMatching(/^v1,\S+$/) as string }]);
  });

  test('has both secrets sign for the grace of a rotation, and so many at the most', async () => {
    const { json } = await ask('POST', '/webhooks', draft());
    const rotated = await ask('POST', '/webhooks/ops/rotate', { grace: '1h' });
    expect(rotated).toMatchObject({
      status: 201,
      json: { webhook: { formerUntil: expect.any(String) as string } },
    });
    expect(secretsOf(current)).toEqual([[rotated.json['secret'], json['secret']]]);
    await ask('POST', '/webhooks/ops/test');
    expect(received.at(-1)?.['webhook-signature']).toMatch(/^v1,\S+ v1,\S+$/);
    for (let time = 0; time < 5; time++) await ask('POST', '/webhooks/ops/rotate', {});
    expect(secretsOf(current)[0]).toHaveLength(4);
    const last = await ask('POST', '/webhooks/ops/rotate', { grace: '0s' });
    await ask('POST', '/webhooks/ops/test');
    expect(received.at(-1)?.['webhook-signature']).toMatch(/^v1,\S+$/);
    expect(secretsOf(current)[0]?.[0]).toBe(last.json['secret']);
    for (const grace of ['soon', '91d'])
      expect(await ask('POST', '/webhooks/ops/rotate', { grace })).toMatchObject({
        ...{ status: 400, json: { errors: [{ field: 'grace' }] } },
      });
    nowMs += 2 * 3_600_000;
    expect((await ask('GET', '/webhooks/ops')).json).toMatchObject({ formerUntil: null });
  });

  test('hears of what is for it alone: one that is made under a name that was free again gets no message of another', async () => {
    const waiting: EventNews = {
      ...{ id: traceId(1), kind: 'bug', severity: 'error', subject: '', fold: 'a', foldMs: 1_000 },
      ...{ detail: {}, count: 1, firstAtMs: epochMs, lastAtMs: epochMs, endedAtMs: null, webhooks: ['ops'] },
    };
    const { store } = current;
    await ask('POST', '/webhooks', draft());
    await store.events.record([waiting], epochMs);
    await ask('DELETE', '/webhooks/ops');
    expect(await store.events.standings()).toEqual([]);
    await store.events.record([{ ...waiting, id: traceId(2), fold: 'b' }], epochMs);
    await ask('POST', '/webhooks', draft());
    expect(await store.events.standings()).toEqual([]);
  });

  test.each([
    [{ name: 'Ops!' }, 'name', /lower-case letters/],
    [{ url: 'ftp://x' }, 'url', /must be an https URL/],
    [{ url: 'http://ops.example.com', allowPrivate: false }, 'url', /must be https, unless allowPrivate/],
    [{ url: undefined }, 'url', /must be/],
    [{ kinds: ['bugs'] }, 'kinds.0', /did you mean "bug"/],
    [{ severity: 'loud' }, 'severity', /error or warning or info/],
    [{ description: 'x'.repeat(201) }, 'description', /./],
    [{ secret: { environment: 'OPS' } }, 'secret', /no such member/],
  ])('%j is refused by its field', async (change, field, message) => {
    expect(await ask('POST', '/webhooks', draft(change))).toMatchObject({
      status: 400,
      json: { errors: [{ field, message: expect.stringMatching(message) as string }] },
    });
    expect(current.webhooks).toEqual([]);
  });

  test('reaches no private address, unless it is said to', async () => {
    const secure = url.replace('http:', 'https:');
    await ask('POST', '/webhooks', { name: 'ops', url: secure });
    expect((await ask('POST', '/webhooks/ops/test')).json).toMatchObject({
      problem: expect.stringMatching(/^forbidden-address: /) as string,
    });
    expect(received).toEqual([]);
    await ask('PATCH', '/webhooks/ops', { url, allowPrivate: true });
    expect((await ask('POST', '/webhooks/ops/test')).json).toMatchObject({ problem: null });
    expect(await ask('PATCH', '/webhooks/ops', { allowPrivate: false })).toMatchObject({
      ...{ status: 400, json: { errors: [{ field: 'url' }] } },
    });
  });

  test('is one of twenty at the most', async () => {
    for (let at = 0; at < 20; at++)
      expect(await ask('POST', '/webhooks', draft({ name: `w${at}` }))).toMatchObject({ status: 201 });
    expect(await ask('POST', '/webhooks', draft())).toMatchObject({
      ...{ status: 409, json: { detail: expect.stringContaining('there are 20 webhooks') as string } },
    });
  });

  test('is made once, and changed by nobody who has not seen it as it is', async () => {
    await ask('POST', '/webhooks', draft());
    expect(await ask('POST', '/webhooks', draft())).toMatchObject({
      ...{ status: 409, json: { errors: [{ field: 'name' }] } },
    });
    const etag = (await ask('GET', '/webhooks/ops')).headers.get('etag') ?? '';
    expect(await ask('PATCH', '/webhooks/ops', { severity: 'error' }, { 'if-match': etag })).toMatchObject({
      status: 200,
    });
    for (const [method, body] of [
      ['PATCH', { severity: 'info' }],
      ['DELETE', undefined],
    ] as const)
      expect(await ask(method, '/webhooks/ops', body, { 'if-match': etag })).toMatchObject({ status: 412 });
    expect(await ask('PATCH', '/webhooks/opz', {})).toMatchObject({
      ...{ status: 404, json: { detail: 'there is no webhook "opz"; did you mean "ops"?' } },
    });
  });

  test('is written as a file declares it, and a file that says so declares the same', async () => {
    await ask('POST', '/webhooks', draft({ description: 'The room', kinds: ['bug'], severity: 'warning' }));
    await ask('POST', '/webhooks', draft({ name: 'b', enabled: false }));
    const stored = await current.store.configuration.load();
    const text = exportConfiguration(stored, [], nowMs);
    expect(text).not.toContain('whsec');
    const { yaml } = (await ask('GET', '/webhooks/ops/declaration')).json as { yaml: string };
    const all = parse(text) as { alerts: { webhooks: object[] } };
    const own = parse(yaml) as { alerts: { webhooks: object[] } };
    expect(own.alerts.webhooks).toEqual(all.alerts.webhooks.slice(1));
    const file = readConfigurationFile(text, 'headgate.yaml');
    if (!file.ok) throw new Error(JSON.stringify(file.error));
    const again = declareFile(file.value, {
      ...{ catalogue: current.service.catalogueFiles, environment: environmentOf({}) },
      ...{ hashKey: () => 'hash', olderHashes: () => [], fingerprints: [], nowMs: 0 },
    });
    const withoutSource = (stored.webhooks ?? []).map(({ source: _, ...webhook }) => webhook);
    expect(again).toMatchObject({ ok: true, value: { webhooks: withoutSource } });
  });

  test('is the same to whoever changes it, by the command line or here', async () => {
    const tools: PieceTools = {
      ...{ store: current.store, dataDir: join(directory, 'data'), nowMs: clock.now() },
      ...{ actor: commandLine, bringIn: () => current.service.poll() },
    };
    const made = await createWebhook(tools, 'ops', { url, allowPrivate: true });
    const rotated = await rotateWebhook(tools, 'ops', '1h');
    if (!made.ok || !rotated.ok) throw new Error('not made');
    await vi.waitFor(() => expect(secretsOf(current)).toEqual([[rotated.value.secret, made.value.secret]]));
    expect((await ask('GET', '/webhooks/ops')).json).toMatchObject({ source: 'console' });
  });
});

describe('a webhook of a file', () => {
  const file = `channels: {}
alerts:
  webhooks:
    - { name: placed, url: "https://ops.example.com/x", secret: { environment: OPS } }
    # The store keeps the secret of this one.
    - url: https://ops.example.com/y
      name: kept
`;

  test('is read-only here, says where it is declared, and has its secret exchanged where the store keeps it', async () => {
    await begin(file);
    expect((await ask('GET', '/webhooks')).json).toMatchObject({
      items: [
        { name: 'kept', source: 'file', declared: true, keeps: 'store', isReady: false },
        { name: 'placed', source: 'file', declared: true, keeps: 'place', isReady: true },
      ],
    });
    expect((await ask('GET', '/declared-places/webhooks/placed')).json).toMatchObject({ line: 4 });
    expect((await ask('GET', '/declared-places/webhooks/kept')).json).toMatchObject({ line: 7 });
    for (const [method, body] of [
      ['PATCH', { severity: 'error' }],
      ['DELETE', undefined],
    ] as const)
      expect(await ask(method, '/webhooks/kept', body)).toMatchObject({
        status: 409,
        json: { detail: expect.stringContaining('is declared in the configuration file') as string },
      });
    expect(await ask('POST', '/webhooks/placed/rotate', {})).toMatchObject({
      ...{ status: 409, json: { detail: expect.stringContaining('exchange it there') as string } },
    });
    const rotated = await ask('POST', '/webhooks/kept/rotate', {});
    expect(rotated).toMatchObject({ status: 201, json: { webhook: { isReady: true, declared: true } } });
    expect(current.webhooks.find(({ id }) => id === 'kept')?.secrets).toMatchObject([
      { secret: rotated.json['secret'], untilMs: null },
    ]);
  });

  test('waits for its secret, and says how it gets one', async () => {
    await begin(file);
    expect(current.service.problems).toContainEqual({
      ...{ kind: 'webhook-without-secret', subject: 'kept' },
      detail: 'its secret is not made yet: headgate webhooks rotate kept makes one',
    });
  });
});
