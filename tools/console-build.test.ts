import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, test } from 'vitest';
import { z } from 'zod';

const root = fileURLToPath(new URL('..', import.meta.url));
const built = join(root, 'packages', 'console', 'dist');

/** The JavaScript that a page needs before it is drawn, compressed by gzip: issue 13 allows so much. */
const firstLoadBytesMax = 180_000;

const firstPage = 'src/pages/overview/overview-page.tsx';

const manifestFile = z.record(
  z.string(),
  z.object({
    file: z.string(),
    imports: z.array(z.string()).default([]),
  }),
);
type Manifest = z.infer<typeof manifestFile>;

beforeAll(() => {
  const { status, stderr } = spawnSync(process.execPath, ['tools/run.mjs', '--console'], {
    cwd: root,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(stderr);
}, 120_000);

test('every page comes with so little JavaScript', () => {
  const manifest = manifestFile.parse(JSON.parse(readFileSync(join(built, 'manifest.json'), 'utf8')));
  const pages = Object.keys(manifest).filter((name) => name.startsWith('src/pages/'));
  expect(pages).not.toEqual([]);
  const sizes = pages.map((page) => {
    // The plotter of charts is fetched behind the page. Where everybody begins it counts all the same.
    const plotter = Object.keys(manifest).filter(
      (name) => page === firstPage && name.endsWith('/chart-plot.tsx'),
    );
    const files = [...closureOf(manifest, ['index.html', page, ...plotter])].map(
      (name) => manifest[name]?.file ?? '',
    );
    return {
      page,
      bytes: files.filter((file) => file.endsWith('.js')).reduce((sum, file) => sum + sizeOf(file), 0),
    };
  });
  expect(pages).toContain(firstPage);
  const largest = sizes.toSorted((one, other) => other.bytes - one.bytes)[0];
  console.log(`largest first load: ${largest?.page} with ${largest?.bytes} bytes`);
  expect(sizes.filter(({ bytes }) => bytes > firstLoadBytesMax)).toEqual([]);
});

test('nothing is inlined in the document, and nothing comes from elsewhere', () => {
  const html = readFileSync(join(built, 'index.html'), 'utf8');
  expect(
    html.match(/<script(?![^>]* src="\/assets\/)[^>]*>|<style|style=|javascript:|\son\w+="/gi),
  ).toBeNull();
  expect(html.match(/(?:src|href)="(?!\/assets\/)[^"]*"/g)).toBeNull();
  const styles = readdirSync(join(built, 'assets')).filter((name) => name.endsWith('.css'));
  for (const name of styles)
    expect(readFileSync(join(built, 'assets', name), 'utf8'), name).not.toMatch(
      /url\((?!["']?\/assets\/)|@import|@font-face/,
    );
});

function closureOf(manifest: Manifest, names: readonly string[], seen = new Set<string>()): Set<string> {
  for (const name of names) {
    if (seen.has(name)) continue;
    seen.add(name);
    closureOf(manifest, manifest[name]?.imports ?? [], seen);
  }
  return seen;
}

/** Small files are sent as they are. */
function sizeOf(file: string): number {
  const packed = join(built, `${file}.gz`);
  return statSync(packed, { throwIfNoEntry: false })?.size ?? statSync(join(built, file)).size;
}
