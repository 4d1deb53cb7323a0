import { expect, test } from 'vitest';
import type { ChannelHistory, CourseSpan } from '../../ports/channel-history.ts';
import { noChannels } from './channels-api.fixture.ts';
import { channelsApi } from './channels-api.ts';
import { testApi } from './frame/test-api.fixture.ts';

const nowMs = Date.UTC(2026, 10, 23, 7, 31, 12);
let span: CourseSpan | null = null;
const history: ChannelHistory = {
  course: (_, asked) => {
    span = asked;
    const { fromMs, stepMs, steps } = asked;
    const points = Array.from({ length: steps }, (_each, at) => ({
      ...{ startMs: fromMs + at * stepMs, good: at === 95 ? 3 : 0, bad: at === 95 ? 1 : 0 },
      ...{ ttftP50Ms: at === 95 ? 99.6 : null, ttftP95Ms: null, faults: at === 95 ? { silent: 1 } : {} },
    }));
    return Promise.resolve(points);
  },
  courses: (asked) =>
    Promise.resolve([
      {
        channelId: 'mine',
        calls: 3,
        success: Array.from({ length: asked.steps }, (_, at) => (at === 23 ? 2 / 3 : null)),
      },
      { channelId: 'idle', calls: 0, success: [] },
    ]),
  failures: (channelId, limit) =>
    Promise.resolve(
      Array.from({ length: limit }, (_, n) => ({
        ...{ channelId, atMs: nowMs - n * 1000, traceId: 'ab'.repeat(16), model: 'm', upstreamModel: 'u' },
        ...{ kind: 'rate-limited' as const, words: null },
      })),
    ),
};
const channels = new Map([['mine', null]]);
// No route of these asks more of a channel than whether it is there.
const sight = { catalogue: { channels }, nowMs } as unknown as ReturnType<typeof noChannels.channelSight>;
const ask = testApi(
  (api) => channelsApi(api, { ...noChannels, channelHistory: history, channelSight: () => sight }),
  { nowMs },
);

test('the last day of a channel is 96 steps of a quarter of an hour, the last one running', async () => {
  const { status, json } = await ask('GET', '/channels/mine/history');
  expect(status).toBe(200);
  expect(span).toEqual({ fromMs: Date.UTC(2026, 10, 22, 7, 45), stepMs: 900_000, steps: 96 });
  const { points, stepMs } = json as { points: readonly object[]; stepMs: number };
  expect(stepMs).toBe(900_000);
  expect(points).toHaveLength(96);
  expect(points[0]).toMatchObject({ at: '2026-11-22T07:45:00.000Z', calls: 0, success: null });
  expect(points.at(-1)).toEqual({
    ...{ at: '2026-11-23T07:30:00.000Z', calls: 4, errors: 1, success: 0.75 },
    ...{ ttftP50Ms: 100, ttftP95Ms: null, faults: { silent: 1 } },
  });
});

test('fewer hours are shorter steps, and never more than 96 of them', async () => {
  for (const [hours, steps, stepMs] of [
    [1, 12, 300_000],
    [8, 96, 300_000],
    [9, 54, 600_000],
  ] as const) {
    const { status } = await ask('GET', `/channels/mine/history?hours=${hours}`);
    expect({ status, span }).toMatchObject({ status: 200, span: { steps, stepMs } });
  }
  expect((await ask('GET', '/channels/mine/history?hours=25')).status).toBe(400);
});

test('failures lead to their calls, and short courses leave out who was not called', async () => {
  const failures = (await ask('GET', '/channels/mine/failures')).json as { items: readonly object[] };
  expect(failures.items).toHaveLength(20);
  expect(failures.items[1]).toEqual({
    ...{ at: '2026-11-23T07:31:11.000Z', traceId: 'ab'.repeat(16), model: 'm', upstreamModel: 'u' },
    ...{ kind: 'rate-limited', words: null },
  });
  const courses = (await ask('GET', '/channel-courses')).json as { items: readonly { id: string }[] };
  expect(courses.items).toMatchObject([{ id: 'mine', calls: 3 }]);
  expect(JSON.stringify(courses)).toContain('0.667');
});

test('a channel that is not there has no history', async () => {
  for (const what of ['history', 'failures'])
    expect((await ask('GET', `/channels/other/${what}`)).status).toBe(404);
});
