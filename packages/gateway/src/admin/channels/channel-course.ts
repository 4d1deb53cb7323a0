import type { ChannelHistory, CoursePoint, CourseSpan } from '../../ports/channel-history.ts';
import { cellMs } from '../../ports/status.ts';

/** Points of a chart at the most: a step of it is as many cells as that takes. */
const pointsMax = 96;
const hourMs = 3_600_000;
const failuresShown = 20;
const hoursOfShortCourse = 24;

interface CourseTools {
  readonly history: ChannelHistory;
  readonly nowMs: number;
}

/** The last hours of a channel, in at most 96 steps; the last one is still running. */
export async function channelCourse({ history, nowMs }: CourseTools, channelId: string, hours: number) {
  const cells = (hours * hourMs) / cellMs;
  const span = spanUntil(nowMs, cellMs * Math.ceil(cells / pointsMax), hours * hourMs);
  const points = await history.course(channelId, span);
  return { stepMs: span.stepMs, points: points.map(pointView) };
}

/** The success of each channel by hour, of the last day; channels that nobody called are left out. */
export async function shortCourses({ history, nowMs }: CourseTools) {
  const span = spanUntil(nowMs, hourMs, hoursOfShortCourse * hourMs);
  const courses = await history.courses(span);
  const items = courses
    .filter(({ calls }) => calls > 0)
    .map(({ channelId, calls, success }) => ({ id: channelId, calls, success: success.map(shortShare) }));
  return { stepMs: hourMs, items, next: null };
}

/** The last failures of a channel, newest first. */
export async function lastFailures({ history }: CourseTools, channelId: string) {
  const failures = await history.failures(channelId, failuresShown);
  const items = failures.map(({ channelId: _, atMs, ...failure }) => ({
    at: new Date(atMs).toISOString(),
    ...failure,
  }));
  return { items, next: null };
}

function spanUntil(nowMs: number, stepMs: number, lengthMs: number): CourseSpan {
  const endMs = nowMs - (nowMs % stepMs) + stepMs;
  const steps = Math.ceil(lengthMs / stepMs);
  return { fromMs: endMs - steps * stepMs, stepMs, steps };
}

function pointView({ startMs, good, bad, ttftP50Ms, ttftP95Ms, faults }: CoursePoint) {
  return {
    at: new Date(startMs).toISOString(),
    calls: good + bad,
    errors: bad,
    success: good + bad === 0 ? null : good / (good + bad),
    ttftP50Ms: ttftP50Ms === null ? null : Math.round(ttftP50Ms),
    ttftP95Ms: ttftP95Ms === null ? null : Math.round(ttftP95Ms),
    faults,
  };
}

/** Three digits are more than a small line can show. */
function shortShare(share: number | null): number | null {
  return share === null ? null : Math.round(share * 1000) / 1000;
}
