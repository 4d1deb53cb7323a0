// `npm run fuzz`: requests that are wrong somewhere, on every endpoint, to a real gateway whose upstreams are wrong at times.
import { parseArgs } from 'node:util';
import { brokenBounds, reportText } from './report.ts';
import { progressEvery, runFuzz } from './run.ts';

const { values: options } = parseArgs({
  options: {
    requests: { type: 'string', default: '1000000' },
    /** Of the first request. A failure names its own: `--seed N --requests 1` sends it alone. */
    seed: { type: 'string' },
    callers: { type: 'string', default: '48' },
    /** Gateways at a time. One has a thread for most of what it does, and leaves a second core half idle. */
    gateways: { type: 'string', default: '2' },
  },
});

/** Each round has a gateway and a ledger of its own. */
const roundRequestsMax = 250_000;
const idleMs = 3000;

async function main(): Promise<number> {
  const seed = Number(options.seed ?? Date.now() % 1_000_000_000);
  const callers = Number(options.callers);
  const total = Number(options.requests);
  const gateways = Number(options.gateways);
  const perRound = Math.min(roundRequestsMax, Math.ceil(total / gateways));
  const rounds = Array.from({ length: Math.ceil(total / perRound) }, (_, place) => ({
    seed: seed + place * perRound,
    requests: Math.min(perRound, total - place * perRound),
  })).values();
  let sent = 0;
  const progress = () => {
    sent += progressEvery;
    console.error(`fuzz: ${sent} of ${total} …`);
  };
  const play = async (): Promise<boolean> => {
    let isSound = true;
    for (const round of rounds) {
      const result = await runFuzz({ ...round, callers, idleMs, progress });
      console.log(reportText(result));
      isSound &&= brokenBounds(result).length === 0;
    }
    return isSound;
  };
  const sound = await Promise.all(Array.from({ length: gateways }, play));
  return sound.every(Boolean) ? 0 : 1;
}

process.exitCode = await main();
