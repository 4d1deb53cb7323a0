import { expect, test } from 'vitest';
import { outcomeOf, requestTo } from './recorded-answer.ts';
import { answerAlways, okAnswer } from './scripted-upstream.ts';
import { type OpenClient, setUpWorkbench } from './workbench.ts';

export function describeGuard(open: OpenClient): void {
  const workbench = setUpWorkbench(open);

  test.each([
    '127.0.0.1',
    '127.1',
    '2130706433',
    '0x7f000001',
    '0177.0.0.1',
    '127.0.0.1.',
    '0.0.0.0',
    'localhost',
    'localhost.',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[64:ff9b::7f00:1]',
    '[2002:7f00:1::]',
    'user:secret@127.0.0.1',
  ])('%s is refused unless private addresses are allowed', async (host) => {
    const upstream = await workbench.upstream(answerAlways(okAnswer));
    const request = requestTo(`http://${host}:${upstream.port}`, { allowPrivate: false });
    const { failure } = await outcomeOf(workbench.client(), request);
    expect(failure?.kind).toBe('forbidden-address');
    expect(upstream.connections).toHaveLength(0);
  });

  test.each(['ftp://127.0.0.1', 'http://127.0.0.1/path', 'http://user@127.0.0.1', 'nonsense', ''])(
    'the origin "%s" is refused even then',
    async (origin) => {
      const { failure } = await outcomeOf(workbench.client(), requestTo(origin));
      expect(failure?.kind).toBe('forbidden-address');
    },
  );

  test('a name is refused when one of its addresses is private', async () => {
    const client = workbench.client({
      resolve: (_, done) =>
        setImmediate(() =>
          done(null, [
            { address: '93.184.216.34', family: 4 },
            { address: '10.0.0.7', family: 4 },
          ]),
        ),
    });
    const request = requestTo('http://two-faced.example', { allowPrivate: false });
    const { failure } = await outcomeOf(client, request);
    expect(failure?.kind).toBe('forbidden-address');
    expect(failure?.detail).toContain('10.0.0.7');
  });

  test('a name that does not resolve is unreachable', async () => {
    const client = workbench.client({
      resolve: (hostname, done) => setImmediate(() => done(new Error(`no ${hostname}`), [])),
    });
    const request = requestTo('http://nowhere.example', { allowPrivate: false });
    expect((await outcomeOf(client, request)).failure?.kind).toBe('unreachable');
  });

  test('leave to connect to private addresses does not carry over to a request without it', async () => {
    const upstream = await workbench.upstream(answerAlways(okAnswer));
    const client = workbench.client();
    expect((await outcomeOf(client, requestTo(upstream.origin))).body).toBe('ok');
    const guarded = await outcomeOf(client, requestTo(upstream.origin, { allowPrivate: false }));
    expect(guarded.failure?.kind).toBe('forbidden-address');
  });
}
