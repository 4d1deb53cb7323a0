import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { StatusFile, StatusHistory, StatusView } from '../ports/status.ts';
import { renderStatus } from '../status/pages/render.ts';

/** The files of the status page as they are sent; written to the view's directory too, where another web server may serve them. */
export function statusFiles(view: StatusView, history: StatusHistory): readonly StatusFile[] {
  const files = renderStatus(view, history, (text) => digest(text).slice(0, 12)).map(
    ({ path, type, text }): StatusFile => {
      const bytes = Buffer.from(text);
      const gzipped = bytes.length < 600 ? null : gzipSync(bytes, { level: 6 });
      return { path, type, bytes, gzipped, etag: `"${digest(text).slice(0, 22)}"` };
    },
  );
  if (view.directory !== null) writeFiles(view.directory, files, view.deployment.language);
  return files;
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}

/** Every file gets its name when it is whole. A page of a language is the index of its directory; the usual one is at the top too. */
function writeFiles(directory: string, files: readonly StatusFile[], language: 'en' | 'zh-CN'): void {
  const written = new Set<string>();
  for (const { path, bytes } of files) {
    const names = namesOf(path, language).filter((name) => isInside(name));
    for (const name of names) {
      writeWhole(join(directory, name), bytes);
      written.add(name);
    }
  }
  forgetStyles(join(directory, 'status'), written);
}

function namesOf(path: string, language: 'en' | 'zh-CN'): readonly string[] {
  const name = path.slice(1);
  if (path !== '/status/en' && path !== '/status/zh') return [name];
  const isUsual = path === (language === 'en' ? '/status/en' : '/status/zh');
  return [`${name}/index.html`, ...(isUsual ? ['status/index.html'] : [])];
}

/** Ids of models have slashes, and are words of operators: none leads out of the directory. */
function isInside(name: string): boolean {
  return name
    .split('/')
    .every((part) => part !== '' && part !== '.' && part !== '..' && !part.includes('\0'));
}

function writeWhole(path: string, bytes: Uint8Array): void {
  if (isSame(path, bytes)) return;
  mkdirSync(dirname(path), { recursive: true });
  const draft = `${path}.${process.pid}.draft`;
  writeFileSync(draft, bytes);
  renameSync(draft, path);
}

function isSame(path: string, bytes: Uint8Array): boolean {
  try {
    return readFileSync(path).equals(bytes);
  } catch {
    return false;
  }
}

/** Style sheets of older versions. A page that somebody has just been sent finds its own for some time: the last few stay. */
function forgetStyles(directory: string, written: ReadonlySet<string>): void {
  const styles = readdirSync(directory).filter((name) => /^style-[\w-]+\.css$/.test(name));
  const old = styles.filter((name) => !written.has(`status/${name}`));
  for (const name of old.slice(0, Math.max(0, old.length - 2)))
    rmSync(join(directory, name), { force: true });
}
