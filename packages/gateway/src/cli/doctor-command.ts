import { accessSync, constants, existsSync, statfsSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { reasonToWithhold } from '../admin/apply-file.ts';
import { counted } from '../admin/banner.ts';
import { declareFile } from '../admin/declare/declare-file.ts';
import { keyHashes } from '../admin/keys.ts';
import { describeProblem } from '../config/yaml-source.ts';
import type { Settings } from '../config.ts';
import { type CommandContext, command, type ExitReason, printResult } from './command.ts';
import { statusText, tableText } from './table.ts';
import { type Workspace, withLedger, withSettings, workspaceCatalogue } from './workspace.ts';

/** One thing that was looked at, how it stands and, unless it is good, how to mend it. */
interface Diagnosis {
  readonly check: string;
  readonly state: 'good' | 'warning' | 'bad';
  readonly detail: string;
}

export const doctorCommand = command({
  name: 'doctor',
  summary: 'Look for what would keep the gateway from working',
  run: (context) =>
    withSettings(context, async ({ settings }) => {
      const before = [
        checkRuntime(),
        checkClock(),
        checkDirectory(settings),
        checkPepper(settings),
        ...(await checkPorts(settings)),
      ];
      const within: Diagnosis[] = [];
      const opened = await withLedger(context, async (workspace) => {
        within.push(
          ...(await checkFile(context, workspace)),
          await checkLedger(workspace),
          ...(await checkCatalogue(workspace)),
        );
        return 'ok';
      });
      return opened === 'ok' ? report(context, [...before, ...within]) : opened;
    }),
});

function report({ output }: CommandContext, diagnoses: readonly Diagnosis[]): ExitReason {
  const moods = { good: 'good', warning: 'idle', bad: 'bad' } as const;
  const words = { good: 'good', warning: 'look', bad: 'mend' } as const;
  const rows = diagnoses.map(({ check, state, detail }) => [
    statusText(words[state], moods[state], output.color),
    check,
    detail,
  ]);
  printResult(output, { diagnoses }, tableText(['state', 'check', 'finding'], rows, output.color));
  return diagnoses.some(({ state }) => state === 'bad') ? 'failed' : 'ok';
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
  const { bavail, bsize } = statfsSync(dataDir);
  const free = `${(Number(bavail * bsize) / 1e9).toFixed(1)} GB free`;
  return { check, state: bavail * bsize < freeBytesMin ? 'warning' : 'good', detail: `${dataDir}, ${free}` };
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

async function checkPorts(settings: Settings): Promise<readonly Diagnosis[]> {
  return [
    await checkPort('API port', settings.apiHost, settings.apiPort, '--api-port'),
    await checkPort('console port', settings.consoleHost, settings.consolePort, '--console-port'),
  ];
}

function checkPort(check: string, host: string, port: number, flag: string): Promise<Diagnosis> {
  const { promise, resolve } = Promise.withResolvers<Diagnosis>();
  const server = createServer();
  server.once('error', (error) => {
    const taken = 'code' in error && error.code === 'EADDRINUSE';
    const detail = taken
      ? `${host}:${port} is taken, by a running gateway or something else; see ${flag}`
      : error.message;
    resolve({ check, state: taken ? 'warning' : 'bad', detail });
  });
  server.listen(port, host, () => {
    server.close(() => resolve({ check, state: 'good', detail: `${host}:${port} is free` }));
  });
  return promise;
}

async function checkFile(
  { environment }: CommandContext,
  { file, store, catalogueFiles, peppers, clock }: Workspace,
): Promise<readonly Diagnosis[]> {
  const check = 'configuration file';
  if (file === null)
    return [{ check, state: 'good', detail: 'none; the store is configured by itself or by import' }];
  const tools = {
    catalogue: catalogueFiles,
    environment,
    ...keyHashes(peppers),
    nowMs: clock.now(),
  };
  const path = file.name;
  const declared = declareFile(file, tools);
  if (declared.ok) {
    const reason = await reasonToWithhold(store.configuration, declared.value);
    const remedy = `${path} will not be applied: ${reason}; if it is meant: headgate apply --force`;
    return [
      { check, ...(reason === null ? { state: 'good', detail: path } : { state: 'bad', detail: remedy }) },
    ];
  }
  return declared.error.map((problem) => ({ check, state: 'bad', detail: describeProblem(problem) }));
}

async function checkLedger({ store }: Workspace): Promise<Diagnosis> {
  const { findings, counts } = await store.verify();
  const check = 'ledger';
  if (findings.length === 0)
    return { check, state: 'good', detail: `sound, ${counted(counts.calls, 'call')}` };
  return {
    check,
    state: 'bad',
    detail: `${counted(findings.length, 'finding')}; see headgate ledger verify`,
  };
}

/** Lists the gaps that the snapshot of the configuration would have. */
async function checkCatalogue(workspace: Workspace): Promise<readonly Diagnosis[]> {
  // Only whether an address can be filled in matters here, not where it leads.
  const { catalogue, problems } = await workspaceCatalogue(workspace);
  const lacking = problems.map(({ kind, subject: check, detail }): Diagnosis => {
    return { check, state: kind === 'unpriced-model' ? 'warning' : 'bad', detail };
  });
  const detail = `${catalogue.channels.size}, with ${counted(catalogue.models.size, 'model')}`;
  const served: Diagnosis = { check: 'channels', state: 'good', detail };
  return [served, ...lacking];
}
