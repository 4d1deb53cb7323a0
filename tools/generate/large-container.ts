/**
 * Compiles `large-container.wat` with the WebAssembly Binary Toolkit, which is fetched for it and no dependency of the project.
 * `node tools/generate/large-container.ts`; a test holds that the source has not changed since.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = new URL('../../packages/protocols/src/bytes/', import.meta.url);
export const sourceFile = new URL('large-container.wat', folder);
export const compiledFile = new URL('large-container.json', folder);

export function digestOf(source: string): string {
  return createHash('sha256').update(source).digest('hex');
}

function compile(): Buffer {
  const directory = mkdtempSync(join(tmpdir(), 'headgate-wasm-'));
  const output = join(directory, 'large-container.wasm');
  const toolkit = ['--yes', '--package=wabt@1.0.39', 'wat2wasm'];
  execFileSync('npx', [...toolkit, fileURLToPath(sourceFile), '--output', output], { stdio: 'inherit' });
  const compiled = readFileSync(output);
  rmSync(directory, { recursive: true });
  return compiled;
}

if (import.meta.main) {
  const source = digestOf(readFileSync(sourceFile, 'utf8'));
  const wasm = compile().toString('base64');
  writeFileSync(compiledFile, `${JSON.stringify({ source, wasm }, null, 2)}\n`);
}
