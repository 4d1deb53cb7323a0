import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { commandLine, serveHeadgate, temporaryDirectory } from './support/process.ts';

const page = readFileSync(new URL('../docs/recipes.md', import.meta.url), 'utf8');

/** The commands under a heading, in their order. */
function commandsUnder(heading: string): readonly string[] {
  const [, section = ''] = page.split(`## ${heading}\n`);
  const own = section.split(/^## /m)[0] ?? '';
  return [...own.matchAll(/^```sh\n([\s\S]*?)^```/gm)].map(([, block = '']) => block);
}

test('the recipe of a prepaid customer does what it says, on the demo', async () => {
  using folder = temporaryDirectory();
  await using serving = await serveHeadgate({ dataDir: folder.path });
  writeFileSync(
    join(folder.path, 'headgate'),
    `#!/bin/sh\nexec "${process.execPath}" "${commandLine()}" "$@"\n`,
    {
      mode: 0o755,
    },
  );
  const blocks = commandsUnder('Money and limits: from zero to a prepaid customer in five minutes');
  expect(blocks).toHaveLength(3);
  const script = blocks.join("printf '%s\\n' '=== next'\n");
  const env = {
    PATH: [folder.path, process.env['PATH']].join(delimiter),
    HEADGATE_DATA_DIR: folder.path,
  };
  const { stdout } = await promisify(execFile)(
    'bash',
    // A busy machine may take longer than the second that people are told.
    [
      '-euc',
      script.replace(/GATEWAY=\S+/, `GATEWAY=${serving.ready.apiOrigin}`).replaceAll('sleep 1', 'sleep 3'),
    ],
    { env, cwd: folder.path },
  );
  const [made = '', called = '', seen = ''] = stdout.split('=== next\n');

  expect(made).toContain('The account acme is there.');
  expect(made).toMatch(/requests per minute +all +60/);
  expect(called).toContain('"code":"insufficient_balance"');
  expect(called).toContain('is booked. The balance of acme is 50 USD.');
  expect(called).toContain('is not booked again');
  expect(called.split('This is a simulated answer')).toHaveLength(2);
  expect(called).toContain('"object":"idempotent_replay"');
  expect(seen).toContain('"object":"usage"');
  expect(readFileSync(join(folder.path, 'acme.csv'), 'utf8')).toMatch(/^trace_id,started_at,/);
  // 2 tokens of the prompt and 43 of the answer, less an eighth.
  expect(seen).toMatch(/month +100 +0\.00003045 +99\.99996955/);
  expect(seen).toMatch(/^trial +/m);
  expect(seen).toMatch(/balance-exhausted +account:acme/);
  expect(seen).toMatch(/from \d{4}-\d\d-\d\d: 0\.25 in, 1\.00 out/);
  expect(seen).toMatch(/^sound: /m);
}, 120_000);
