import { newKey, startConfigured } from '../harness/headgate-process.ts';
import { serverCore } from '../harness/pinned-process.ts';
import { modelName } from './fixed-answer.ts';
import type { ServerUnderTest } from './server-under-test.ts';

export type Durability = 'strict' | 'soon';

/** Headgate as an operator runs it, with everything on: keys, routing, metering, ledger on disk, metrics, call log. */
export async function startHeadgate(upstreamPort: number, durability: Durability): Promise<ServerUnderTest> {
  const key = newKey();
  const yaml = headgateConfiguration(upstreamPort, durability);
  const gateway = await startConfigured({ yaml, environment: { HEADGATE_BENCH_KEY: key }, core: serverCore });
  return { name: durability === 'strict' ? 'headgate' : 'headgate-soon', key, ...gateway };
}

function headgateConfiguration(upstreamPort: number, durability: Durability): string {
  return `
settings:
  api: { port: 0 }
  console: { port: 0 }
  ledger: { durability: ${durability} }
  log: { format: json }
providers:
  bench:
    name: Fixed upstream
    baseUrl: http://127.0.0.1:${upstreamPort}/v1
    protocols: { chat-completions: /chat/completions }
    credential: { scheme: none }
models:
  ${modelName}: {}
prices:
  ${modelName}: { input: "1.25", cacheRead: "0.125", output: "10" }
channels:
  bench: { provider: bench, allowPrivate: true, models: [${modelName}] }
groups:
  bench: { platform: completions }
keys:
  bench: { group: bench, secret: { environment: HEADGATE_BENCH_KEY } }
`;
}
