import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { isSlow } from './test/support/slow-form.ts';

const root = fileURLToPath(new URL('.', import.meta.url));

// Workers, their threads and the processes that tests start load the same modules over and over: each is compiled once.
process.env['NODE_COMPILE_CACHE'] ??= fileURLToPath(
  new URL('node_modules/.cache/node-compile', import.meta.url),
);

const unit = filesOf('packages/**/*.test.ts', 'tools/**/*.test.ts');
/** Documents, descriptions, and what has the reader of requests that it names itself or none: one run of them says it all. */
const readerless = /^test\/(specs\/|(?:\w+-docs|docs-mentions|start-documents|hops|fuzz|fault-bench)\.test)/;
/** A second run, on another reader of requests, is of those that it may make a difference to. */
const isSecondRun = process.env['HEADGATE_TEST_HTTP'] !== undefined;
const blackbox = filesOf('test/**/*.test.ts').filter(
  (file) => !file.startsWith('test/browser/') && !(isSecondRun && readerless.test(file)),
);
const browser = filesOf('test/browser/**/*.test.ts');

/** Set by `npm run test:browser`: those alone. */
const isBrowser = process.env['HEADGATE_TESTS'] === 'browser';

/** Those that would be waited for alone if they began last, the longest first: a fresh clone knows no durations. */
const longest = isBrowser
  ? ['/walk.test.ts', '/trouble.test.ts', '/people.test.ts']
  : isSlow
    ? [
        '/lanes-agree.test.ts',
        '/limits-model.test.ts',
        '/crash.test.ts',
        '/fuzz.test.ts',
        '/open-sqlite-store.test.ts',
        '/crash-loop.test.ts',
        '/recovery.test.ts',
        '/fallback-table.test.ts',
      ]
    : ['/hang-ups.test.ts', '/fallback-table.test.ts'];

/** Black-box tests come before the others: they wait for processes and for time-outs, and unit tests fill the time. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const rankOf = ({ project, moduleId }: TestSpecification) => {
      const place = longest.findIndex((name) => moduleId.endsWith(name));
      if (place >= 0) return place;
      return longest.length + (project.name === 'blackbox' ? 0 : 1);
    };
    return sorted.toSorted((one, other) => rankOf(one) - rankOf(other));
  }
}

export default defineConfig({
  test: {
    pool: 'forks',
    // More than the cores that this must be quick on, as processes and time-outs are waited for. Slow forms leave no core idle.
    maxWorkers: isSlow ? 3 : 4,
    sequence: { sequencer: LongestFirst },
    testTimeout: isSlow ? 900_000 : 20_000,
    hookTimeout: 20_000,
    // A machine that does other things beside takes its time; what never comes fails all the same.
    expect: { poll: { timeout: 10_000 } },
    projects: isBrowser
      ? [
          {
            extends: true,
            test: {
              name: 'browser',
              include: browser,
              isolate: false,
              testTimeout: 60_000,
              hookTimeout: 60_000,
              // Two browsers, as one alone leaves a core idle.
              maxWorkers: 2,
            },
          },
        ]
      : [
          // No module has a state of its own (an architecture rule), so files may share what is loaded.
          { extends: true, test: { name: 'unit', include: unit, isolate: false } },
          // Black-box tests that are concurrent wait for time-outs most of the time.
          {
            extends: true,
            test: {
              name: 'blackbox',
              include: blackbox,
              isolate: false,
              maxConcurrency: 12,
              globalSetup: 'test/support/bundled-program.ts',
            },
          },
        ],
  },
});

/** All of them, or those alone that have a slow form: they ask `slow-form.ts` for it. */
function filesOf(...patterns: readonly string[]): string[] {
  const files = globSync(patterns, { cwd: root, exclude: ['**/node_modules/**'] });
  return isSlow
    ? files.filter((file) => readFileSync(`${root}${file}`, 'utf8').includes('/slow-form.ts'))
    : files;
}
