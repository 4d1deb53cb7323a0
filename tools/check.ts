import { spawn } from 'node:child_process';
import { parseArgs } from 'node:util';

/** One program that finds mistakes. */
interface Check {
  readonly name: string;
  readonly command: readonly [program: string, ...words: readonly string[]];
}

interface Finding {
  readonly name: string;
  readonly failed: boolean;
  readonly output: string;
}

/** What the compiler found the last time lies beside the packages: who has changed a file waits for what that file reaches. */
function typesOf(project: string, kept: string): Check['command'] {
  const memory = `node_modules/.cache/types-${kept}.json`;
  return ['tsc', '--noEmit', '--incremental', '--tsBuildInfoFile', memory, '-p', project];
}

const staticChecks: readonly Check[] = [
  { name: 'types', command: typesOf('tsconfig.json', 'gateway') },
  { name: 'types of the console', command: typesOf('packages/console/tsconfig.json', 'console') },
  { name: 'style', command: ['biome', 'ci', '.'] },
  { name: 'dead code', command: ['knip'] },
  { name: 'lint', command: ['oxlint', '--type-aware'] },
];

/** Seconds since this program started, for reading where the time went. */
function elapsed(): string {
  return `${(performance.now() / 1000).toFixed(1)} s`;
}

/** Runs a check to its end. Its output is kept, or goes where this program's own goes. */
function run({ name, command: [program, ...words] }: Check, isShown: boolean): Promise<Finding> {
  const { promise, resolve } = Promise.withResolvers<Finding>();
  const child = spawn(program, words, {
    stdio: ['ignore', isShown ? 'inherit' : 'pipe', isShown ? 'inherit' : 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  child.once('error', ({ message }) => resolve({ name, failed: true, output: message }));
  child.once('close', (code) => resolve({ name, failed: code !== 0, output }));
  return promise;
}

/** One after another, beside the tests: the machine that this must be quick on has two cores. */
async function runStaticChecks(): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  for (const check of staticChecks) {
    const finding = await run(check, false);
    console.log(`${finding.failed ? '✗' : '✓'} ${check.name} (${elapsed()})`);
    findings.push(finding);
  }
  return findings;
}

async function main(): Promise<number> {
  const { values } = parseArgs({ options: { project: { type: 'string' } } });
  const projects = values.project === undefined ? [] : ['--project', values.project];
  const tests = run({ name: 'tests', command: ['vitest', 'run', ...projects] }, true);
  const findings = [...(await runStaticChecks()), await tests];
  const failures = findings.filter(({ failed }) => failed);
  for (const { name, output } of failures) console.error(`\n✗ ${name}\n${output}`);
  const verdict =
    failures.length === 0 ? 'all well' : `failed: ${failures.map(({ name }) => name).join(', ')}`;
  console.log(`\nTypes, style, dead code, lint and tests: ${verdict} (${elapsed()}).`);
  return failures.length === 0 ? 0 : 1;
}

process.exitCode = await main();
