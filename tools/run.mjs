// Runs a program of this repository on the Node that it needs: node tools/run.mjs [--all] [--console] [PROGRAM ARGUMENTS…]. What is
// missing is installed first, with `--all` what the tests need too; with `--console` the console is built where it is not. Every script of npm begins here and none in a `pre` script, which
// npm leaves out where `ignore-scripts` is set. Without a program it only installs.
import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ensureConsole } from './ensure-console.mjs';
import { ensureInstalled } from './ensure-installed.mjs';

const words = process.argv.slice(2);
const asked = words.slice(0, words.findLastIndex((word, at) => at < 2 && /^--(all|console)$/.test(word)) + 1);
const [program, ...rest] = words.slice(asked.length);
const node = ensureInstalled(asked.includes('--all'));
// A gateway without pages serves all the same; who asked for nothing else hears that there are none.
if (asked.includes('--console') && !ensureConsole(node) && program === undefined) process.exitCode = 1;
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
