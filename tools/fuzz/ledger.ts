import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** All that a ledger says of a run, once its process has ended. */
export interface LedgerCount {
  readonly entries: number;
  readonly open: number;
  readonly traceIds: ReadonlySet<string>;
  /** What is wrong in it. */
  readonly complaints: readonly string[];
}

const commandLine = fileURLToPath(new URL('../../packages/gateway/src/cli.ts', import.meta.url));

/** Asks the commands that an operator has: `ledger verify`, and every line of `ledger export`. */
export async function countLedger(dataDir: string): Promise<LedgerCount> {
  const complaints: string[] = [];
  const traceIds = new Set<string>();
  let [entries, open] = [0, 0];
  const verified = await run(['ledger', 'verify', '--json'], dataDir, (line) =>
    complaints.push(...findingsIn(line)),
  );
  const exported = await run(['ledger', 'export'], dataDir, (line) => {
    const { traceId, status } = JSON.parse(line) as { traceId: string; status: string };
    entries++;
    if (status === 'open' || status === 'interrupted') open++;
    if (traceIds.has(traceId)) complaints.push(`two entries of ${traceId}`);
    traceIds.add(traceId);
  });
  if (verified !== 0) complaints.push(`ledger verify ended with ${verified}`);
  if (exported !== 0) complaints.push(`ledger export ended with ${exported}`);
  return { entries, open, traceIds, complaints };
}

function findingsIn(line: string): readonly string[] {
  const found = /"findings":\[(.+?)\]/.exec(line)?.[1];
  return found === undefined ? [] : [`ledger verify found ${found}`];
}

/** The code it ended with. */
async function run(
  words: readonly string[],
  dataDir: string,
  onLine: (line: string) => void,
): Promise<number> {
  const child = spawn(process.execPath, [commandLine, ...words], {
    cwd: dataDir,
    env: { PATH: process.env['PATH'], HEADGATE_DATA_DIR: dataDir },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  for await (const line of createInterface({ input: child.stdout })) onLine(line);
  return (await ended) ?? -1;
}
