import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { readSecretInput, type SecretStream } from './secret-input.ts';

function inputOf(isTTY: boolean, ...chunks: readonly string[]) {
  const modes: boolean[] = [];
  const setRawMode = (isRaw: boolean) => void modes.push(isRaw);
  const input = Object.assign(new PassThrough(), { isTTY, setRawMode }) satisfies SecretStream;
  for (const chunk of chunks) input.write(chunk);
  if (!isTTY) input.end();
  return { input, modes };
}

test('what is piped in is read to its end, without a question', async () => {
  const { input, modes } = inputOf(false, 'sk-', 'one\n');
  const asked: string[] = [];
  expect(await readSecretInput(input, (text) => asked.push(text))).toEqual({ ok: true, value: 'sk-one\n' });
  expect([asked, modes]).toEqual([[], []]);
});

test('a person is asked, writes unseen, may mend it, and ends with the line', async () => {
  const { input, modes } = inputOf(true, 's', 'k-x\u007f', 'one\r', 'more');
  const asked: string[] = [];
  expect(await readSecretInput(input, (text) => asked.push(text))).toEqual({ ok: true, value: 'sk-one' });
  expect(asked.join('')).toBe('Secret (it is not shown): \n');
  expect(modes).toEqual([true, false]);
});

test('a person may give up', async () => {
  const { input, modes } = inputOf(true, 'sk-\u0003');
  expect(await readSecretInput(input, () => undefined)).toEqual({ ok: false, error: 'nothing was changed' });
  expect(modes).toEqual([true, false]);
});

test.each([true, false])('more than any secret has is not read (terminal: %s)', async (isTTY) => {
  const { input } = inputOf(isTTY, 'x'.repeat(70_000));
  expect(await readSecretInput(input, () => undefined)).toMatchObject({ ok: false });
});
