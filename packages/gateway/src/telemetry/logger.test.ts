import { expect, test } from 'vitest';
import { linesWritten } from './testing.ts';

const json = { level: 'info', format: 'json' } as const;

test('writes one JSON object a line, with level, time, fields and message', async () => {
  const before = Date.now();
  const [line = ''] = await linesWritten(json, ({ logger }) =>
    logger.info('listening', { origin: 'http://127.0.0.1:1' }),
  );
  expect(line).toMatch(/^\{"level":30,"time":\d+,"origin":"http:\/\/127\.0\.0\.1:1","msg":"listening"\}$/);
  expect(Number(line.split(/[:,]/)[3])).toBeGreaterThanOrEqual(before);
});

test('keeps only the fields on the list', async () => {
  const fields = { keyId: 'key-1', authorization: 'Bearer abc', body: '{}' };
  const [line = ''] = await linesWritten(json, ({ logger }) => logger.warn('refused', fields));
  expect(line).toContain('"keyId":"key-1"');
  expect(line).not.toContain('Bearer');
  expect(line).not.toContain('body');
});

test('says what was thrown, with its stack, and survives what is no error', async () => {
  const lines = await linesWritten(json, ({ logger }) => {
    logger.error('bug', { error: new RangeError('too far') });
    logger.error('bug', { error: 'a string' });
  });
  const [first, second] = lines.map((line): unknown => JSON.parse(line));
  expect(first).toMatchObject({ error: { type: 'RangeError', message: 'too far' } });
  expect(first).toHaveProperty('error.stack', expect.stringContaining('logger.test.ts'));
  expect(second).toMatchObject({ error: { message: 'a string' } });
});

test('writes nothing below its level', async () => {
  const lines = await linesWritten({ ...json, level: 'warn' }, ({ logger }) => {
    logger.debug('a');
    logger.info('b');
    logger.warn('c');
  });
  expect(lines).toHaveLength(1);
});

test.each(['json', 'pretty'] as const)(
  '%s: no text of others can begin a line or drive a terminal',
  async (format) => {
    const hostile = 'a\r\n{"level":50}\u001b[2J\u009b31m\u2028\u0085b';
    const lines = await linesWritten({ level: 'info', format }, ({ logger }) =>
      logger.info(hostile, { model: hostile, error: new Error(hostile), detail: { words: hostile } }),
    );
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/^[\x20-\x7e]*$/);
  },
);

test('bounds long texts', async () => {
  const [line = ''] = await linesWritten(json, ({ logger }) =>
    logger.info('x', { model: 'm'.repeat(100_000) }),
  );
  expect(line.length).toBeLessThan(500);
});

test.each(['json', 'pretty'] as const)('%s: live secrets never reach the file', async (format) => {
  const plain = 'upstream-secret-1';
  const quoted = 'with"quote\\and-slash';
  const ownKey = `sk-${'a1B2c3D4e5F6g7'.repeat(4).slice(0, 49)}`;
  const lines = await linesWritten({ level: 'info', format }, ({ logger, sink }) => {
    sink.setSecrets([plain, quoted, 'short', `${plain}-and-more`]);
    logger.info(`sent ${plain}`, {
      error: new Error(`key ${quoted}`),
      reason: `${plain}-and-more ${ownKey} short`,
    });
  });
  const text = lines.join('\n');
  expect(text).toContain('[redacted]');
  for (const secret of [plain, 'with', 'and-more', ownKey.slice(0, 20)]) expect(text).not.toContain(secret);
  expect(text).toContain('short');
});

test('pretty lines read as time, level, message and pairs', async () => {
  const [line = ''] = await linesWritten({ level: 'info', format: 'pretty' }, ({ logger }) =>
    logger.warn('channel blocked', { channelId: 'a-1', reason: 'credit is "gone"', count: 2 }),
  );
  expect(line).toMatch(
    /^\d\d:\d\d:\d\d\.\d{3} WARN {2}channel blocked channelId=a-1 count=2 reason="credit is \\"gone\\""$/,
  );
});

test('a flush of nothing resolves', async () => {
  expect(await linesWritten(json, () => {})).toEqual([]);
});
