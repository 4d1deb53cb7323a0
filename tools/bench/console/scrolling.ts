import type { Page } from 'playwright-core';

/** How a list felt while it was scrolled. */
export interface Scroll {
  readonly rows: number;
  readonly seconds: number;
  readonly framesPerSecond: number;
  /** Milliseconds from frame to frame. */
  readonly p95Ms: number;
  /** The share of frames that came in the time of one, with a millisecond for the clock's own trembling. */
  readonly inTime: number;
  /** Milliseconds of a core that the page's own thread took for a frame: less than 16.7, or no machine is quick enough. */
  readonly cpuMs: number;
}

const frameMs = 1000 / 60;
const clockMs = 1;

/** Scrolls down at an even pace until so many rows have gone by, and takes the time of each frame. */
export async function scrollOver(page: Page, rows: number, rowsPerSecond: number): Promise<Scroll> {
  const cpu = await cpuOf(page);
  const times = await page.evaluate<Times>(`(${scrolled})(${JSON.stringify({ rows, rowsPerSecond })})`);
  const cpuMs = (await cpu()) / times.frames.length;
  const gaps = times.frames.slice(1).map((at, index) => at - (times.frames[index] ?? at));
  const ascending = gaps.toSorted((one, other) => one - other);
  const seconds = gaps.reduce((sum, gap) => sum + gap, 0) / 1000;
  return {
    rows: times.rows,
    seconds,
    framesPerSecond: gaps.length / seconds,
    p95Ms: ascending[Math.floor(ascending.length * 0.95)] ?? Number.NaN,
    inTime: gaps.filter((gap) => gap <= frameMs + clockMs).length / gaps.length,
    cpuMs,
  };
}

/** From here on: the milliseconds of a core that the page's thread has taken. */
async function cpuOf(page: Page): Promise<() => Promise<number>> {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  const read = async () => {
    const { metrics } = await session.send('Performance.getMetrics');
    return (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN) * 1000;
  };
  const before = await read();
  return async () => (await read()) - before;
}

interface Times {
  readonly rows: number;
  readonly frames: readonly number[];
}

/** Runs in the page. Where the next rows are not there yet, it waits at the edge as a reader would. */
const scrolled = `async ({ rows, rowsPerSecond }) => {
  const rowHeight = document.querySelector('tbody tr[data-index]').getBoundingClientRect().height;
  const limitMs = (rows / rowsPerSecond) * 1000 + 60_000;
  const frames = [];
  let seen = 0;
  for (let before = null; seen < rows; ) {
    const now = await new Promise(requestAnimationFrame);
    frames.push(now);
    if (now - frames[0] > limitMs) break;
    const end = document.documentElement.scrollHeight - innerHeight;
    const next = Math.min(end, scrollY + ((now - (before ?? now)) / 1000) * rowsPerSecond * rowHeight);
    before = now;
    scrollTo(0, next);
    seen = Math.max(seen, Math.round(next / rowHeight));
  }
  return { rows: seen, frames };
}`;
