import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';

const root = fileURLToPath(new URL('../../', import.meta.url));
const cache = join(root, 'node_modules/.cache/headgate-bundles');
const staleMs = 24 * 3_600_000;

/** What a process or a thread of ours begins with. */
const entries = [
  'packages/gateway/src/cli.ts',
  'packages/gateway/src/store/sqlite/store-worker.ts',
  'packages/gateway/src/translation/translate-worker.ts',
  'packages/gateway/src/translation/answer-worker.ts',
  'packages/gateway/src/tokens/count-worker.ts',
  'packages/simulator/src/fleet-worker.ts',
].map((path) => join(root, path));

/** Before the first test: the processes that tests start find the bundle by this variable. `files` makes them run the files themselves. */
export async function setup(): Promise<void> {
  if (process.env['HEADGATE_TEST_PROGRAM'] === 'files') return;
  process.env['HEADGATE_TEST_PROGRAM'] = await bundleProgram();
}

/**
 * Puts the thousand modules of the program into a few files and returns the path of `cli`. A process that a test starts takes more than half
 * of its time to find and to load modules, in each of its threads; what runs is the same.
 */
async function bundleProgram(): Promise<string> {
  const bundle = await rolldown({
    input: Object.fromEntries(entries.map((path) => [outputOf(path), path])),
    platform: 'node',
    logLevel: 'silent',
    plugins: [{ name: 'places', transform: (code, path) => withPlaces(code, path) }],
  });
  const { output } = await bundle.generate({
    entryFileNames: '[name].mjs',
    chunkFileNames: '[name]-[hash].mjs',
  });
  await bundle.close();
  const files = output.flatMap((file) =>
    file.type === 'chunk' ? [[file.fileName, file.code] as const] : [],
  );
  const hash = createHash('sha256').update(JSON.stringify(files)).digest('hex').slice(0, 16);
  const folder = join(cache, hash);
  removeStale();
  // Under one name as long as nothing changes, since compiled code is kept by name; complete from the first moment, since
  // several runs may begin at once.
  if (!existsSync(folder)) {
    const draft = `${folder}-${process.pid}`;
    mkdirSync(draft, { recursive: true });
    for (const [name, code] of files) writeFileSync(join(draft, name), code);
    try {
      renameSync(draft, folder);
    } catch {
      rmSync(draft, { recursive: true, force: true });
    }
  }
  utimesSync(folder, new Date(), new Date());
  return join(folder, `${outputOf(entries[0] ?? '')}.mjs`);
}

function outputOf(entry: string): string {
  return basename(entry, '.ts');
}

/** Programs and threads of ours are found in the bundle, all other files from where the module was. */
function withPlaces(code: string, path: string): string | null {
  if (!path.startsWith(join(root, 'packages')) || !code.includes('import.meta.')) return null;
  const own = pathToFileURL(path);
  return code
    .replaceAll(/new URL\('([^']+)', import\.meta\.url\)/g, (written, to: string) =>
      entries.includes(fileURLToPath(new URL(to, own)))
        ? `new URL('./${outputOf(to)}.mjs', import.meta['url'])`
        : written,
    )
    .replaceAll('import.meta.url', JSON.stringify(own.href))
    .replaceAll('import.meta.filename', JSON.stringify(path))
    .replaceAll('import.meta.dirname', JSON.stringify(dirname(path)));
}

function removeStale(): void {
  if (!existsSync(cache)) return;
  for (const name of readdirSync(cache)) {
    const folder = join(cache, name);
    if (Date.now() - statSync(folder).mtimeMs > staleMs) rmSync(folder, { recursive: true, force: true });
  }
}
