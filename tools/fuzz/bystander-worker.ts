import { setTimeout } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';

/** How the calls of one who does nothing wrong have fared. */
export interface BystanderReport {
  readonly latenciesMs: readonly number[];
  readonly failures: readonly string[];
}

// Only `Bystander` starts this thread, and it passes exactly this.
const { port, key, model } = workerData as { port: number; key: string; model: string };

let latenciesMs: number[] = [];
let failures: string[] = [];
let isOver = false;

parentPort?.on('message', (wish: 'report' | 'end') => {
  isOver ||= wish === 'end';
  parentPort?.postMessage({ latenciesMs, failures } satisfies BystanderReport);
  [latenciesMs, failures] = [[], []];
});

const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'Hi' }] });
const pauseMs = 20;

while (!isOver) {
  const startedAt = performance.now();
  try {
    const answer = await fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body,
    });
    const text = await answer.text();
    if (answer.status !== 200) failures.push(`${answer.status}: ${text.slice(0, 300)}`);
  } catch (error) {
    failures.push(String(error));
  }
  latenciesMs.push(performance.now() - startedAt);
  await setTimeout(pauseMs);
}
parentPort?.close();
