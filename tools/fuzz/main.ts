// `npm run fuzz`: requests that are wrong somewhere, on every endpoint, to a real gateway whose upstreams are wrong at times.
import { parseArgs } from 'node:util';
import { brokenBounds, reportText } from './report.ts';
import { runFuzz } from './run.ts';

const { values: options } = parseArgs({
  options: {
    requests: { type: 'string', default: '1000000' },
    /** Of the first request. A failure names its own: `--seed N --requests 1` sends it alone. */
    seed: { type: 'string' },
    callers: { type: 'string', default: '48' },
  },
});

/** Each round has a gateway and a ledger of its own. */
const roundRequests = 250_000;
const idleMs = 3000;

async function main(): Promise<number> {
  const seed = Number(options.seed ?? Date.now() % 1_000_000_000);
  const callers = Number(options.callers);
  const total = Number(options.requests);
  let isSound = true;
  for (let done = 0; done < total; done += roundRequests) {
    const requests = Math.min(roundRequests, total - done);
    const progress = (sent: number) => console.error(`fuzz: ${done + sent} of ${total} …`);
    const result = await runFuzz({ seed: seed + done, requests, callers, idleMs, progress });
    console.log(reportText(result));
    isSound &&= brokenBounds(result).length === 0;
  }
  return isSound ? 0 : 1;
}

process.exitCode = await main();
