import { LiveHub, liveTopics } from '../../packages/gateway/src/admin/live/live-hub.ts';
import { sampleEntry, traceId } from '../../packages/gateway/src/store/contract/samples.ts';

/**
 * Prints what open consoles cost the process that they look at, beside the same calls with nobody looking. Sending the bytes is not in it.
 *
 *     node tools/bench/live.ts [calls a second]
 */
const rate = Number(process.argv[2] ?? 1_000);
const seconds = 8;
const entries = Array.from({ length: 1_000 }, (_, at) =>
  sampleEntry({ traceId: traceId(at), accountId: `account-${at % 5}` }),
);

for (const [consoles, ofMembers] of [
  [0, 0],
  [20, 0],
  [20, 10],
] as const) {
  const { percent, bytes } = await measure(consoles, ofMembers);
  const kibibytes = Math.round(bytes / seconds / 1024);
  console.log(
    `${consoles} consoles, ${ofMembers} of them members': ${percent.toFixed(2)} % of a core at ${rate} calls/s, ${kibibytes} KiB/s`,
  );
}

async function measure(consoles: number, ofMembers: number) {
  let bytes = 0;
  const hub = new LiveHub({
    now: Date.now,
    openCalls: () => 1,
    nameOf: (id) => id,
    followEvents: (mark) => Promise.resolve({ events: [], mark: mark ?? 0 }),
    every: (ms, work) => {
      const timer = setInterval(work, ms);
      return () => clearInterval(timer);
    },
  });
  const reader = {
    topics: new Set(liveTopics),
    send: ({ text }: { readonly text: string }) => {
      bytes += text.length;
    },
    end: () => undefined,
  };
  for (let at = 0; at < consoles; at++)
    hub.join(at < ofMembers ? [`account-${at % 5}`] : 'all', { ...reader }, null)?.greet();
  const [before, since] = [process.cpuUsage(), performance.now()];
  let at = 0;
  const calling = setInterval(() => {
    for (let count = 0; count < rate / 100; count++) {
      const entry = entries[at++ % entries.length];
      if (hub.isWatched && entry !== undefined) hub.callEnded(entry);
    }
  }, 10);
  await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  clearInterval(calling);
  const { user, system } = process.cpuUsage(before);
  hub.close();
  return { percent: ((user + system) / 1000 / (performance.now() - since)) * 100, bytes };
}
