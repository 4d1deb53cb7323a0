// Builds packages/console where its sources have changed since the last build, and shows how it goes. Its packages are fetched
// only then: who runs a package that carries the build, or any command but `npm start`, needs none of them. Like its neighbours
// it runs before anything is installed, on the system's own Node, and uses nothing else.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { npm } from './ensure-installed.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = join(root, 'packages', 'console');
const built = join(folder, 'dist');
/** Says of which sources the build is; written last, so a build that breaks off counts for nothing. */
const stamp = join(built, 'sources.sha256');

/**
 * Builds the console if that is needed, on the given Node or on this process's own. Returns false, after saying why, when it cannot be:
 * the gateway runs without its pages.
 */
export function ensureConsole(node) {
  // A published package has the build and none of its sources.
  if (!existsSync(join(folder, 'vite.config.ts'))) return true;
  const sources = sourcesHash();
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === sources) return true;
  if (isMissing() && !install()) return sayWhy('its packages could not be fetched');
  const begunAt = performance.now();
  console.error('Headgate: building the console (once, until its sources change) …');
  rmSync(stamp, { force: true });
  const vite = join(root, 'node_modules', 'vite', 'bin', 'vite.js');
  const { status } = spawnSync(node ?? process.execPath, [vite, 'build', '--logLevel', 'warn'], {
    cwd: folder,
    // Standard output belongs to the program that follows.
    stdio: ['ignore', 2, 2],
    shell: (node ?? '').endsWith('.cmd'),
    env: { ...process.env, NODE_ENV: 'production' },
  });
  if (status !== 0) return sayWhy('its build failed; see its messages above');
  writeFileSync(stamp, sources);
  console.error(`Headgate: built the console in ${((performance.now() - begunAt) / 1000).toFixed(1)} s.`);
  return true;
}

function sayWhy(reason) {
  console.error(
    `Headgate: the console has no pages for now: ${reason}. \`npm run build:console\` tries again.`,
  );
  return false;
}

/** Of all that the build is made of: the sources without their tests, the settings, and the versions of the packages. */
function sourcesHash() {
  const names = readdirSync(join(folder, 'src'), { recursive: true })
    .filter((name) => /\.\w+$/.test(name) && !/\.test\.tsx?$/.test(name))
    .sort()
    .map((name) => join('src', name));
  const hash = createHash('sha256');
  for (const name of [...names, 'index.html', 'vite.config.ts', 'package.json'])
    hash
      .update(name.replaceAll('\\', '/'))
      .update('\0')
      .update(readFileSync(join(folder, name)))
      .update('\0');
  return hash.digest('hex');
}

function isMissing() {
  const { devDependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const list = join(root, 'node_modules', '.package-lock.json');
  const installed = existsSync(list) ? JSON.parse(readFileSync(list, 'utf8')).packages : {};
  return Object.entries(devDependencies).some(
    ([name, version]) => installed[`node_modules/${name}`]?.version !== version,
  );
}

/** The packages of the build alone, beside what is there; optional ones among them are the native parts for this platform. */
function install() {
  console.error('Headgate: installing what building the console needs (once) …');
  return npm(['install', '--workspace=packages/console', '--include=dev', '--include=optional']) === 0;
}
