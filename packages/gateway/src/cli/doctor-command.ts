import { accessSync, constants, existsSync, mkdtempSync, rmSync, statfsSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { reasonToWithhold } from '../admin/apply-file.ts';
import { counted } from '../admin/banner.ts';
import { declareFile } from '../admin/declare/declare-file.ts';
import { keyHashes } from '../admin/keys.ts';
import { storeFile } from '../admin/owner-files.ts';
import { listAccounts } from '../admin/owner-report.ts';
import { readServingFile, type ServingFacts } from '../admin/serving.ts';
import type { LayeredSettings } from '../admin/settings/layered-settings.ts';
import { webhookStatuses } from '../admin/webhooks/webhook-status.ts';
import type { BuiltCatalogue } from '../catalogue/build.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import { type ConfigurationProblem, describeProblem } from '../config/yaml-source.ts';
import type { Settings } from '../config.ts';
import type { Declaration } from '../ports/configuration-store.ts';
import { openSqliteStore } from '../store/sqlite/open-sqlite-store.ts';
import { SameThreadLane } from '../store/sqlite/same-thread-lane.ts';
import { freeBytesMin as fullDiskBytes } from '../store/store-watch.ts';
import { targetsOf, testTargets } from './channels-commands.ts';
import { type CommandContext, command, type ExitReason, printResult } from './command.ts';
import { loadCommandSettings } from './command-settings.ts';
import { askGateway, unreadyReasons } from './running-gateway.ts';
import { cut, statusText, tableWithNotes, widthUsual } from './table.ts';
import { type Workspace, withWorkspace, workspaceCatalogue } from './workspace.ts';

/** One thing that was looked at, how it stands and, unless it is good, how to mend it. */
interface Diagnosis {
  readonly check: string;
  readonly state: 'good' | 'warning' | 'bad';
  readonly detail: string;
}

export const doctorCommand = command({
  name: 'doctor',
  summary: 'Look for what would keep the gateway from working',
  options: {
    'no-network': { placeholder: null, help: 'Do not try the credentials of the channels' },
  },
  run: diagnose,
});

async function diagnose(context: CommandContext): Promise<ExitReason> {
  const machine = [checkRuntime(), checkClock()];
  const loaded = loadCommandSettings(context);
  if (!loaded.ok) return report(context, [...machine, ...loaded.error.map(badSetting)]);
  const { settings, layers } = loaded.value;
  const serving = await servingNow(settings);
  const before = [
    checkDirectory(settings),
    checkPepper(settings),
    ...checkConsoleSettings(layers),
    await checkServing(serving),
    ...(await checkPorts(settings, serving)),
  ];
  const within: Diagnosis[] = [];
  const said: string[] = [];
  const hush = (text: string): void => void said.push(text.trim());
  const output = { ...context.output, json: false, write: hush, writeError: hush };
  const opened = await withWorkspace({ ...context, output }, async (workspace) => {
    const { declaration, diagnoses } = await checkFile(context, workspace);
    within.push(...diagnoses, await checkLedger(workspace));
    const catalogue = await catalogueToBe(workspace, declaration);
    within.push(...checkCatalogue(catalogue), ...(await checkAccounts(workspace)));
    within.push(...(await checkWebhooks(workspace, catalogue)));
    if (context.options['no-network'] === undefined)
      within.push(...(await checkCredentials(settings, catalogue.catalogue)));
    return 'ok';
  });
  if (opened !== 'ok') within.push({ check: 'store', state: 'bad', detail: said.join('; ') });
  return report(context, [...machine, ...before, ...within]);
}

function badSetting(problem: ConfigurationProblem): Diagnosis {
  return { check: 'configuration file', state: 'bad', detail: describeProblem(problem) };
}

const checkWidth = 20;
/** The characters of a line before the finding. */
const findingAt = 10 + checkWidth;

function report({ output }: CommandContext, diagnoses: readonly Diagnosis[]): ExitReason {
  const moods = { good: 'good', warning: 'idle', bad: 'bad' } as const;
  const words = { good: 'ok', warning: 'warn', bad: 'fail' } as const;
  const room = (output.columns ?? widthUsual) - findingAt;
  const rows = diagnoses.map(({ check, state, detail }) => [
    statusText(words[state], moods[state], output.color),
    cut(check, checkWidth),
    detail.length > room ? '' : detail,
  ]);
  const notes = diagnoses.map(({ detail }) => (detail.length > room ? detail : null));
  const text = tableWithNotes(['state', 'check', 'finding'], rows, notes, output);
  const bad = diagnoses.filter(({ state }) => state === 'bad').length;
  const sum = bad === 0 ? 'Nothing keeps the gateway from working.' : `${counted(bad, 'thing')} to mend.`;
  printResult(output, { diagnoses }, `${text}\n\n${sum}`);
  return bad === 0 ? 'ok' : 'failed';
}

/** The gateway on the data directory that answers; null where none does. */
async function servingNow({ dataDir }: Settings): Promise<ServingFacts | null> {
  if (!existsSync(dataDir)) return null;
  const facts = readServingFile(dataDir);
  return facts !== null && (await askGateway(dataDir, 'GET', '/api/v1/channels')).ok ? facts : null;
}

/** Tells of settings that the console keeps, and of those that are not followed. */
function checkConsoleSettings({ given, leftOut }: LayeredSettings): readonly Diagnosis[] {
  const check = 'console settings';
  const followed = Object.values(given).filter(({ layer }) => layer === 'console').length;
  if (followed + leftOut.length === 0) return [];
  const detail = `${counted(followed, 'setting')} of the console; see headgate settings list`;
  return [
    { check, state: 'good', detail },
    ...leftOut.map(({ name, reason }): Diagnosis => {
      const remedy = `not followed: ${reason}; make it anew, or headgate settings unset ${name}`;
      return { check: `setting ${name}`, state: 'warning', detail: remedy };
    }),
  ];
}

async function checkServing(serving: ServingFacts | null): Promise<Diagnosis> {
  const check = 'running gateway';
  if (serving === null) return { check, state: 'good', detail: 'none on this data directory' };
  const reasons = await unreadyReasons(serving);
  const who = `process ${serving.processId}, ${serving.apiOrigin}`;
  if (reasons.length === 0) return { check, state: 'good', detail: who };
  const detail = `${who} takes no calls: ${reasons.join(', ')}; its log says more`;
  return { check, state: 'bad', detail };
}

const nodeMajorMin = 26;

function checkRuntime(): Diagnosis {
  const major = Number(process.versions.node.split('.')[0]);
  const check = 'Node.js';
  if (major >= nodeMajorMin) return { check, state: 'good', detail: process.versions.node };
  const detail = `${process.versions.node} is too old; start with npm, which brings its own`;
  return { check, state: 'bad', detail };
}

/** When this version of the checks was written: a clock before it is wrong, and keys and prices go by the clock. */
const earliestMs = Date.UTC(2026, 10, 1);

function checkClock(): Diagnosis {
  const [check, now] = ['clock', new Date()];
  if (now.getTime() >= earliestMs) return { check, state: 'good', detail: now.toISOString() };
  return { check, state: 'bad', detail: `${now.toISOString()} has passed; set the clock` };
}

const freeBytesMin = 1_073_741_824;

function checkDirectory({ dataDir }: Settings): Diagnosis {
  const check = 'data directory';
  if (!existsSync(dataDir)) return { check, state: 'good', detail: `${dataDir} will be made` };
  try {
    accessSync(dataDir, constants.W_OK);
  } catch {
    const detail = `${dataDir} cannot be written; change its owner or name another with --data-dir`;
    return { check, state: 'bad', detail };
  }
  const locked = ['', '-wal', '-shm'].map((end) => `${storeFile(dataDir)}${end}`).find(cannotBeWritten);
  if (locked !== undefined)
    return { check, state: 'bad', detail: `${locked} cannot be written; change its owner (chown)` };
  const { bavail, bsize } = statfsSync(dataDir);
  if (bavail * bsize < Number(fullDiskBytes))
    return { check, state: 'bad', detail: `the disk of ${dataDir} is full; free some space` };
  const free = `${(Number(bavail * bsize) / 1e9).toFixed(1)} GB free`;
  return { check, state: bavail * bsize < freeBytesMin ? 'warning' : 'good', detail: `${dataDir}, ${free}` };
}

function cannotBeWritten(path: string): boolean {
  try {
    if (existsSync(path)) accessSync(path, constants.W_OK);
    return false;
  } catch {
    return true;
  }
}

function checkPepper({ pepper, dataDir }: Settings): Diagnosis {
  const check = 'pepper';
  const path = join(dataDir, 'pepper');
  if (pepper !== null) return { check, state: 'good', detail: 'from HEADGATE_PEPPER' };
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return { check, state: 'good', detail: 'will be made' };
  const isPrivate = (stat.mode & 0o077) === 0;
  if (isPrivate) return { check, state: 'good', detail: path };
  return { check, state: 'bad', detail: `others can read ${path}; chmod 600 it` };
}

async function checkPorts(settings: Settings, serving: ServingFacts | null): Promise<readonly Diagnosis[]> {
  const ports = [
    ['API port', settings.apiHost, settings.apiPort, '--api-port', serving?.apiOrigin],
    ['console port', settings.consoleHost, settings.consolePort, '--console-port', serving?.consoleOrigin],
  ] as const;
  return Promise.all(
    ports.map(([check, host, port, flag, origin]) => {
      const isOwn = origin !== undefined && new URL(origin).port === String(port);
      const own: Diagnosis = { check, state: 'good', detail: `${host}:${port}, the running gateway's` };
      return isOwn ? Promise.resolve(own) : checkPort(check, host, port, flag);
    }),
  );
}

function checkPort(check: string, host: string, port: number, flag: string): Promise<Diagnosis> {
  const { promise, resolve } = Promise.withResolvers<Diagnosis>();
  const server = createServer();
  server.once('error', (error) => {
    const taken = 'code' in error && error.code === 'EADDRINUSE';
    const detail = taken
      ? `${host}:${port} is taken by another program; end it, or choose another with ${flag}`
      : error.message;
    resolve({ check, state: taken ? 'warning' : 'bad', detail });
  });
  server.listen(port, host, () => {
    server.close(() => resolve({ check, state: 'good', detail: `${host}:${port} is free` }));
  });
  return promise;
}

/** The findings about the file, and what it declares where that can be told. */
interface FileChecked {
  readonly declaration: Declaration | null;
  readonly diagnoses: readonly Diagnosis[];
}

async function checkFile(
  { environment }: CommandContext,
  { file, store, catalogueFiles, peppers, clock }: Workspace,
): Promise<FileChecked> {
  const check = 'configuration file';
  const without = 'none; the store is configured by itself or by import';
  if (file === null) return { declaration: null, diagnoses: [{ check, state: 'good', detail: without }] };
  const tools = { catalogue: catalogueFiles, environment, ...keyHashes(peppers), nowMs: clock.now() };
  const path = file.name;
  const declared = declareFile(file, tools);
  if (!declared.ok) return { declaration: null, diagnoses: declared.error.map(badSetting) };
  const reason = await reasonToWithhold(store.configuration, declared.value);
  const remedy = `${path} will not be applied: ${reason}; if it is meant: headgate apply --force`;
  const diagnosis: Diagnosis =
    reason === null ? { check, state: 'good', detail: path } : { check, state: 'bad', detail: remedy };
  return { declaration: declared.value, diagnoses: [diagnosis] };
}

async function checkLedger({ store }: Workspace): Promise<Diagnosis> {
  const { findings, counts } = await store.verify();
  const check = 'ledger';
  if (findings.length === 0)
    return { check, state: 'good', detail: `sound, ${counted(counts.calls, 'call')}` };
  const unreadable = findings.find(({ rule }) => rule === 'database-can-be-read');
  if (unreadable !== undefined)
    return {
      check,
      state: 'bad',
      detail: `${unreadable.subject} is damaged: ${unreadable.detail}; put a backup in its place (docs/operating.md, "Backups")`,
    };
  return {
    check,
    state: 'bad',
    detail: `${counted(findings.length, 'finding')}; see headgate ledger verify`,
  };
}

/** The catalogue in force; before the first start the one that the file will make, tried out in a store of its own. */
async function catalogueToBe(workspace: Workspace, declaration: Declaration | null): Promise<BuiltCatalogue> {
  const built = await workspaceCatalogue(workspace);
  if (declaration === null || built.catalogue.channels.size > 0) return built;
  const directory = mkdtempSync(join(tmpdir(), 'headgate-doctor-'));
  const store = await openSqliteStore({
    file: join(directory, 'trial.sqlite'),
    durability: 'strict',
    clock: workspace.clock,
    onAlarm: () => undefined,
    openLane: (...lane) => new SameThreadLane(...lane),
  });
  try {
    await store.configuration.apply('file', declaration, workspace.clock.now());
    return await workspaceCatalogue({ ...workspace, store });
  } finally {
    await store.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Lists the gaps that the snapshot of the configuration has. */
function checkCatalogue({ catalogue, problems }: BuiltCatalogue): readonly Diagnosis[] {
  const lacking = problems.map(({ kind, subject: check, detail }): Diagnosis => {
    return { check, state: kind === 'unpriced-model' ? 'warning' : 'bad', detail };
  });
  const detail = `${catalogue.channels.size}, with ${counted(catalogue.models.size, 'model')}`;
  const served: Diagnosis = { check: 'channels', state: 'good', detail };
  return [served, ...lacking];
}

/** Tells of prepaid accounts whose calls are refused, as they have nothing left. */
async function checkAccounts({ store, clock }: Workspace): Promise<readonly Diagnosis[]> {
  const accounts = await listAccounts({ store, nowMs: clock.now() });
  return accounts.flatMap(({ id, balance, creditLimit, available }): Diagnosis[] => {
    if (available === null || !/^(-|0$)/.test(available)) return [];
    const limit = creditLimit === '0' ? '' : `, with a credit limit of ${creditLimit} USD`;
    const detail = `prepaid, and its balance is ${balance} USD${limit}: its calls are refused; headgate accounts credit ${id} AMOUNT --reason TEXT`;
    return [{ check: `account ${id}`, state: 'warning', detail }];
  });
}

/** Tells what the receivers of events answered last; nothing is sent. */
async function checkWebhooks(
  { store, clock }: Workspace,
  { webhooks }: BuiltCatalogue,
): Promise<readonly Diagnosis[]> {
  return webhookStatuses(webhooks, await store.events.standings(), clock.now()).flatMap(
    (status): Diagnosis[] => {
      const { name, enabled, isReady, problem, waiting, delivered } = status;
      if (!isReady || !enabled) return [];
      const check = `webhook ${name}`;
      if (problem === null)
        return [{ check, state: 'good', detail: `${counted(delivered, 'message')} taken` }];
      const detail = `${problem}; ${counted(waiting, 'message')} wait; try it: headgate webhooks test ${name}`;
      return [{ check, state: 'warning', detail }];
    },
  );
}

/** A provider that says nothing for so long is not asked any longer here. */
const answerMsMax = 10_000;

/** Asks each channel that is on for its list of models, which costs nothing, or for one token where it has none. */
async function checkCredentials(settings: Settings, catalogue: Catalogue): Promise<readonly Diagnosis[]> {
  const targets = [...catalogue.channels.values()]
    .filter(({ enabled, simulated }) => enabled && !simulated)
    .flatMap((channel) => targetsOf(catalogue, channel).slice(0, 1));
  const tests = await testTargets(settings, targets, { call: false, timeoutMs: answerMsMax });
  return tests.map(({ channelId: check, credentialId, works, detail }) => {
    const whose = credentialId === null ? '' : `${credentialId}: `;
    return { check, state: works ? 'good' : 'bad', detail: `${whose}${detail}` };
  });
}
