import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import tailwind from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

export default defineConfig({
  plugins: [react(), tailwind(), precompress()],
  // The console stands at the root of its own origin. Nothing is inlined: the policy of the page allows no `data:` scripts or styles.
  build: {
    target: 'es2023',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    manifest: 'manifest.json',
  },
});

/** Writes each file that gets smaller once more beside itself, so that serving compresses nothing. */
function precompress(): Plugin {
  let folder = '';
  return {
    name: 'precompress',
    apply: 'build',
    configResolved(config) {
      folder = join(config.root, config.build.outDir);
    },
    async closeBundle() {
      const names = await readdir(folder, { recursive: true });
      await Promise.all(
        names.filter((name) => /\.(js|css|html|svg)$/.test(name)).map((name) => compress(join(folder, name))),
      );
    },
  };
}

async function compress(path: string): Promise<void> {
  const plain = await readFile(path);
  const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 10 } };
  const forms = [
    ['.br', await promisify(brotliCompress)(plain, quality)],
    ['.gz', await promisify(gzip)(plain, { level: 9 })],
  ] as const;
  for (const [ending, packed] of forms)
    if (packed.length < plain.length * 0.9) await writeFile(`${path}${ending}`, packed);
}
