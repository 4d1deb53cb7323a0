// Runs a program of this repository on the Node that it needs: node tools/run.mjs [--all] [PROGRAM ARGUMENTS…]. What is missing
// is installed first, with `--all` what the tests need too. Every script of npm begins here and none in a `pre` script, which
// npm leaves out where `ignore-scripts` is set. Without a program it only installs.
import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ensureInstalled } from './ensure-installed.mjs';

const words = process.argv.slice(2);
const isAll = words[0] === '--all';
const [program, ...rest] = isAll ? words.slice(1) : words;
const node = ensureInstalled(isAll);
if (program !== undefined && node === null) runHere();
else if (program !== undefined) runOn(node);

/** In this process, as if it had been started with the program alone. */
function runHere() {
  process.argv.splice(1, Infinity, resolve(program), ...rest);
  import(pathToFileURL(program).href);
}

/** In another process, which gets this one's signals and gives it its end: the first run on a system's older Node. */
function runOn(node) {
  const child = spawn(node, [program, ...rest], { stdio: 'inherit', shell: node.endsWith('.cmd') });
  const signals =
    process.platform === 'win32'
      ? ['SIGINT', 'SIGTERM', 'SIGHUP']
      : ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGUSR2'];
  for (const signal of signals) process.on(signal, () => child.kill(signal));
  child.once('close', (code, signal) => {
    if (signal !== null) process.removeAllListeners(signal).kill(process.pid, signal);
    else process.exitCode = code ?? 1;
  });
}
