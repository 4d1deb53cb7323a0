import { expect, test } from 'vitest';
import { noCycles, permittedImports } from './architecture/import-rules.ts';
import { noAny, noEffectsAtImport, noModuleState } from './architecture/module-rules.ts';
import { noProviderNames } from './architecture/provider-name-rules.ts';
import {
  clockAndChanceAreInjected,
  noFetchInDataPath,
  oneReaderOfTheEnvironment,
  pureFoldersStayPure,
} from './architecture/purity-rules.ts';
import { smallFiles, smallFunctions } from './architecture/size-rules.ts';
import { parseSourceFile, type Rule, readSourceFiles } from './architecture/source-file.ts';

const rules = [
  permittedImports,
  noCycles,
  smallFiles,
  smallFunctions,
  pureFoldersStayPure,
  clockAndChanceAreInjected,
  noFetchInDataPath,
  oneReaderOfTheEnvironment,
  noModuleState,
  noEffectsAtImport,
  noAny,
  noProviderNames(),
];

const files = readSourceFiles();

test.each(rules)('$name', (rule) => {
  expect(files.length).toBeGreaterThan(50);
  const violations = rule.check(files).map(({ where, what }) => `${where}  ${what}`);
  expect(violations, `${rule.name}. To mend it: ${rule.remedy}.`).toEqual([]);
});

// A rule that cannot notice anything would pass for ever, so each is shown what it must refuse and what it must not.

const core = 'packages/gateway/src/core/x.ts';
const pipeline = 'packages/gateway/src/pipeline/x.ts';
const store = 'packages/gateway/src/store/x.ts';

const refused: readonly (readonly [Rule, string, string])[] = [
  [permittedImports, core, "import { readFileSync } from 'node:fs';"],
  [permittedImports, core, "import { openLog } from '../telemetry/logger.ts';"],
  [permittedImports, core, "export * from '../ports/clock.ts';"],
  [permittedImports, pipeline, "import type { Pool } from 'undici';"],
  [permittedImports, pipeline, "import { x } from '../store/x.ts';"],
  [permittedImports, store, "import { x } from '../../../protocols/src/usage.ts';"],
  [permittedImports, 'packages/gateway/src/misc/x.ts', 'export const x = 1;'],
  [noCycles, core, "import { x } from './x.ts';"],
  [smallFiles, core, '\n'.repeat(400)],
  [smallFunctions, core, `const f = () => {${'\n'.repeat(70)}};`],
  [smallFunctions, core, `class A { f() {${'\n'.repeat(70)}} }`],
  [pureFoldersStayPure, core, 'export const f = () => Buffer.from("");'],
  [pureFoldersStayPure, core, 'export const f = () => setTimeout(f, 1);'],
  [clockAndChanceAreInjected, pipeline, 'export const f = () => Date.now();'],
  [clockAndChanceAreInjected, pipeline, 'export const f = () => new Date();'],
  [clockAndChanceAreInjected, core, 'export const f = () => Math.random();'],
  [noFetchInDataPath, 'packages/gateway/src/upstream/x.ts', 'export const f = () => fetch("");'],
  [oneReaderOfTheEnvironment, store, 'export const f = () => process.env["A"];'],
  [noModuleState, store, 'let count = 0;'],
  [noModuleState, store, 'const cache = new Map<string, string>();'],
  [noModuleState, store, 'const cache: Map<string, string> = new Map();'],
  [noEffectsAtImport, store, 'start();'],
  [noEffectsAtImport, store, "import './register.ts';"],
  [noAny, store, 'export const f = (x: any) => x;'],
  [noProviderNames(['acme']), store, "if (provider === 'acme') f();"],
  [noProviderNames(['acme']), store, 'const acmeModels = 1;'],
  [noProviderNames(['acme-cloud']), store, 'const f = () => `one of Acme Cloud`;'],
];

test.each(refused)('$0.name: refuses in $1: $2', (rule, path, text) => {
  expect(rule.check([parseSourceFile(path, text)])).not.toEqual([]);
});

const accepted: readonly (readonly [Rule, string, string])[] = [
  [permittedImports, core, "import type { Clock } from '../ports/clock.ts';"],
  [permittedImports, core, "import { type Clock } from '../ports/clock.ts';"],
  [permittedImports, pipeline, "import { noUsage } from '@headgate/protocols';"],
  [permittedImports, 'packages/gateway/src/core/x.test.ts', "import { readFileSync } from 'node:fs';"],
  [noCycles, core, "import { y } from './y.ts';"],
  [pureFoldersStayPure, core, 'export const f = (x: { process: number }) => x.process;'],
  [pureFoldersStayPure, core, '// Buffer\nexport interface A { readonly performance: number }'],
  [clockAndChanceAreInjected, pipeline, 'export const f = (ms: number) => new Date(ms);'],
  [noModuleState, store, 'const table: ReadonlyMap<string, string> = new Map();'],
  [noModuleState, store, 'export const f = () => { let count = 0; return count++; };'],
  [noEffectsAtImport, 'packages/gateway/src/cli.ts', 'start();'],
  [noProviderNames(['acme']), store, "// acme\nimport { x } from 'acme';"],
  [noProviderNames(['together']), store, "const help = 'all of them together';"],
];

test.each(accepted)('$0.name: accepts in $1: $2', (rule, path, text) => {
  expect(rule.check([parseSourceFile(path, text)])).toEqual([]);
});

test('a cycle is found whatever its length, and named', () => {
  const ring = ['a', 'b', 'c'].map((name, index) =>
    parseSourceFile(
      `packages/gateway/src/core/${name}.ts`,
      `import { x } from './${['b', 'c', 'a'][index]}.ts';`,
    ),
  );
  expect(noCycles.check(ring).map(({ what }) => what)).toEqual([
    'cycle: packages/gateway/src/core/a.ts → packages/gateway/src/core/b.ts → packages/gateway/src/core/c.ts → packages/gateway/src/core/a.ts',
  ]);
});
