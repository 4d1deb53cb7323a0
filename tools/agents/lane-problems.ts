import { readFileSync } from 'node:fs';
import type { SimulatedRequest, Simulator } from '@headgate/simulator';
import type { TestGateway } from '../../test/support/gateway.ts';
import type { Agent } from './agent.ts';
import type { GroupResult } from './process-group.ts';
import type { Site } from './site.ts';
import type { Upstream } from './upstreams.ts';

/** A simulated model, and the protocol in which it is called. */
export interface Model {
  readonly upstream: Upstream;
  readonly simulator: Simulator;
}

/** Finds mistakes in what the agent told and did. */
export function problemsOfRun({ finalText }: Agent, { task }: Site, run: GroupResult): readonly string[] {
  if (run.isTimedOut) return [`was not done after ${Math.round(run.durationMs / 1000)} s`];
  if (run.code !== 0) return [`ended with code ${run.code}`];
  const said = finalText(run.stdout);
  return [
    ...(said === task.farewell ? [] : [`said ${JSON.stringify(said)} in the end`]),
    ...(copied(task.copyFile) === task.copyText ? [] : ['did not write copy.txt as it was told']),
  ];
}

/** The file's text without its line end, or null when there is none. */
function copied(path: string): string | null {
  try {
    return readFileSync(path, 'utf8').trimEnd();
  } catch {
    return null;
  }
}

/** How everything begins that the simulator seals; null where the protocol has nothing sealed. */
const seals = {
  'chat-completions': null,
  responses: 'gAAAAAsimulatedWHOLE',
  messages: 'c2ltdWxhdGVk',
  'generate-content': 'c2ltdWxhdGVk',
} as const;

/** How every PNG begins, in base64. */
const pictureStart = 'iVBORw0KGgo';

/** The gateway's mark on sealed state that is not of the caller's protocol: as it is, and in base64. */
const marks = ['gw1.', 'Z3cxL'];

/**
 * Finds mistakes in what the models were sent. The last call must tell what the tools found, and give the model back what
 * it has sealed; no model may ever see what another one has sealed, or a mark of the gateway.
 */
export function problemsOfModels(models: readonly Model[], { secret }: Site): readonly string[] {
  const [first, last] = [models[0], models.at(-1)];
  if (first === undefined || last === undefined) return ['has no model'];
  const lastCall = textOf(answersOf(last).at(-1));
  const own = seals[last.upstream];
  const foreign = seals[first.upstream];
  return [
    ...(lastCall.includes(secret) ? [] : ['did not tell the model what is in the note']),
    ...(lastCall.includes(pictureStart) ? [] : ['did not show the model the picture']),
    ...(own === null || lastCall.includes(own) ? [] : ['did not give the model back what it had sealed']),
    ...(foreign !== null && foreign !== own && lastCall.includes(foreign)
      ? ['told a model what another had sealed']
      : []),
    ...models.flatMap(({ simulator }) => simulator.requests.flatMap(problemsOfRequest)),
  ];
}

/** Requests that ask for an answer, oldest first. */
export function answersOf({ simulator }: Model): readonly SimulatedRequest[] {
  return simulator.requests.filter(({ target }) => !/count_?tokens/i.test(target));
}

function problemsOfRequest(request: SimulatedRequest): readonly string[] {
  const text = textOf(request);
  return [
    ...(request.outcome === 'answered' ? [] : [`a call of the model is ${request.outcome}`]),
    ...marks.filter((mark) => text.includes(`"${mark}`)).map((mark) => `sent a model the mark ${mark}`),
  ];
}

export function textOf(request: SimulatedRequest | undefined): string {
  return Buffer.from(request?.body ?? '').toString();
}

/** Every call of the agent has one entry, ended well and paid for. Counted tokens have one, too, and cost nothing. */
export async function problemsOfLedger({ store }: TestGateway, calls: number): Promise<readonly string[]> {
  await store.ledger.flush();
  const all = await Array.fromAsync(store.exportEntries({}));
  const entries = all.filter(({ unbilledReason }) => unbilledReason !== 'token_count');
  const bad = entries.filter(({ status, chargeNanoUsd }) => status !== 'complete' || chargeNanoUsd === 0n);
  return [
    ...(entries.length === calls ? [] : [`${calls} calls of the model have ${entries.length} entries`]),
    ...bad.map(({ status, unbilledReason }) => `a call is ${status} in the ledger: ${unbilledReason}`),
  ];
}
