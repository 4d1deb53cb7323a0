import { setTimeout } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';

export interface BystanderOptions {
  /** The gateway's, and the one of the upstream behind it. */
  readonly origin: string;
  readonly direct: string;
  readonly key: string;
  readonly model: string;
}

/** How the calls of one who does nothing wrong have fared. */
export interface BystanderReport {
  readonly latenciesMs: readonly number[];
  /** The same calls of the upstream itself, between the others: what the machine adds to both. */
  readonly directMs: readonly number[];
  readonly failures: readonly string[];
}

// Only `Bystander` starts this thread, and it passes exactly this.
const { origin, direct, key, model } = workerData as BystanderOptions;

let latenciesMs: number[] = [];
let directMs: number[] = [];
let failures: string[] = [];
let wish: 'report' | 'end' | null = null;
let isOver = false;

parentPort?.on('message', (said: 'report' | 'end') => {
  wish = said;
  report();
});

/** Answers a wish. On a busy machine no call may have ended yet: then it waits for the first, as nothing can be said of none. */
function report(): void {
  if (wish === null || latenciesMs.length === 0 || directMs.length === 0) return;
  isOver ||= wish === 'end';
  parentPort?.postMessage({ latenciesMs, directMs, failures } satisfies BystanderReport);
  [latenciesMs, directMs, failures] = [[], [], []];
  wish = null;
}

const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'Hi' }] });
const pauseMs = 20;

while (!isOver) {
  latenciesMs.push(await call(origin));
  directMs.push(await call(direct));
  report();
  await setTimeout(pauseMs);
}
parentPort?.close();

/** How long it took. What fails is told, and counts like all others. */
async function call(at: string): Promise<number> {
  const startedAt = performance.now();
  try {
    const answer = await fetch(`${at}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body,
    });
    const text = await answer.text();
    if (answer.status !== 200) failures.push(`${answer.status}: ${text.slice(0, 300)}`);
  } catch (error) {
    failures.push(String(error));
  }
  return performance.now() - startedAt;
}
