// Installs what the lock file names and this clone lacks, so that `npm start` and `npm test` work in a fresh one. It runs on the
// system's own Node (20 or later) before anything is installed, so it may use nothing but Node itself. What is there is
// read from npm's own list, which npm writes when all of it is: an installation that broke off, or another's, needs no stamp.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const modules = join(root, 'node_modules');
const listOfInstalled = join(modules, '.package-lock.json');
const isWindows = process.platform === 'win32';

/**
 * Installs what running needs, or with `all` what the tests need too. Returns the Node to run on, or null if this process has one
 * that is recent enough. Ends the process with one line that says what to do when there is none.
 */
export function ensureInstalled(all) {
  const installed = readJson(listOfInstalled).packages ?? {};
  const { optionalDependencies } = readJson(join(root, 'package.json'));
  // What a start finds of the tests' packages it keeps. Those of the console's build alone come without the tests' runner.
  const isAll = all || 'node_modules/vitest' in installed;
  const nodes = Object.entries(optionalDependencies);
  const needsNode = !isSystemRecent(nodes);
  const hasNode = nodes.some(([name]) => `node_modules/${name}` in installed);
  if (isMissing(installed, isAll) || (needsNode && !hasNode)) install(isAll, needsNode);
  else if (isRecent(process.version, nodes)) return null;
  return provideNode(nodes);
}

/** True if this process runs on a Node that is recent enough and stays when `node_modules` goes. */
function isSystemRecent(nodes) {
  const isOfNpm =
    existsSync(modules) && realpathSync(process.execPath).startsWith(realpathSync(modules) + sep);
  return !isOfNpm && isRecent(process.version, nodes);
}

function readJson(path) {
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : {};
}

/** Packages of other platforms are named by the lock file and not installed, so optional ones are not asked for. */
function isMissing(installed, isAll) {
  const locked = Object.entries(readJson(join(root, 'package-lock.json')).packages);
  return locked.some(
    ([path, { version, dev, optional, devOptional, link }]) =>
      path.includes('node_modules/') &&
      !(optional || devOptional || link || (dev && !isAll)) &&
      installed[path]?.version !== version,
  );
}

/** Only npm's Node is optional in running, so a system that has its own fetches a fifth of the bytes. Tools of the tests need theirs. */
function install(isAll, needsNode) {
  console.error(`Headgate: installing what ${isAll ? 'the tests need' : 'running needs'} (once) …`);
  // An installation that breaks off leaves no list, so the next start begins again.
  rmSync(listOfInstalled, { force: true });
  // What is asked for holds whatever NODE_ENV and npm's configuration say.
  const status = npm([
    'install',
    isAll || needsNode ? '--include=optional' : '--omit=optional',
    isAll ? '--include=dev' : '--omit=dev',
  ]);
  if (status !== 0) giveUp('`npm install` failed; see its messages above.');
}

/** Runs npm in the root, the one that runs this or the system's, and returns its status. Nothing needs an install script. */
export function npm(words) {
  const own = process.env.npm_execpath ?? '';
  const [command, first] = own.endsWith('npm-cli.js') ? [process.execPath, [own]] : ['npm', []];
  const usual = [
    '--no-save',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
    '--ignore-scripts',
    '--prefer-offline',
  ];
  const { status } = spawnSync(command, [...first, ...words, ...usual], {
    cwd: root,
    // Standard output belongs to the program that follows.
    stdio: ['ignore', 2, 2],
    shell: isWindows && command === 'npm',
  });
  return status;
}

/** Makes the `node` of npm's scripts one that is recent enough: npm's package for this platform, else the system's own. */
function provideNode(nodes) {
  const linked = join(modules, '.bin', isWindows ? 'node.cmd' : 'node');
  if (runs(linked, nodes)) return linked;
  for (const suffix of ['', '.cmd', '.ps1']) rmSync(join(modules, '.bin', `node${suffix}`), { force: true });
  const program = join('bin', isWindows ? 'node.exe' : 'node');
  const found = nodes.map(([name]) => name).find((name) => runs(join(modules, name, program), nodes));
  if (found !== undefined) {
    // npm 10 links no program that packages of several platforms have.
    if (!isWindows) symlinkSync(join('..', found, program), linked);
    return join(modules, found, program);
  }
  if (isRecent(process.version, nodes)) return null;
  rmSync(listOfInstalled, { force: true });
  return giveUp(
    `no Node ${nodes[0][1]} from npm runs on this system (${process.platform} ${process.arch}; there is none for musl). ` +
      'Install Node 26 yourself, on Alpine by the image node:26-alpine, and start again.',
  );
}

function runs(program, nodes) {
  if (!existsSync(program)) return false;
  const { status, stdout } = spawnSync(program, ['--version'], {
    encoding: 'utf8',
    shell: program.endsWith('.cmd'),
  });
  return status === 0 && isRecent(stdout, nodes);
}

/** True for a version that is not older than the one that package.json names. */
function isRecent(version, [[, wanted]]) {
  const [major, minor] = numbers(version);
  const [wantedMajor, wantedMinor] = numbers(wanted);
  return major > wantedMajor || (major === wantedMajor && minor >= wantedMinor);
}

function numbers(version) {
  return version.trim().replace(/^v/, '').split('.').map(Number);
}

function giveUp(reason) {
  console.error(`Headgate: ${reason}`);
  process.exit(1);
}
