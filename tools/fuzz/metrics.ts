import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What a gateway counts itself. */
export interface Counted {
  readonly calls: number;
  readonly inFlight: number;
  readonly heldBytes: number;
  /** Alerts of each kind. */
  readonly alerts: ReadonlyMap<string, number>;
}

export async function scrape(consolePort: number, dataDir: string): Promise<Counted> {
  const token = readFileSync(join(dataDir, 'scrape-token'), 'utf8').trim();
  const answer = await fetch(`http://127.0.0.1:${consolePort}/metrics`, {
    headers: { authorization: `Bearer ${token}` },
  });
  const lines = [...(await answer.text()).matchAll(/^headgate_(\w+)(?:\{(.*)\})? ([\d.e+]+)$/gm)];
  const sum = (name: string) =>
    lines.filter(([, own]) => own === name).reduce((total, [, , , value]) => total + Number(value), 0);
  const alerts = lines
    .filter(([, name]) => name === 'alerts_total')
    .map(([, , labels, value]) => [/kind="([^"]+)"/.exec(labels ?? '')?.[1] ?? '', Number(value)] as const);
  return {
    calls: sum('calls_total'),
    inFlight: sum('calls_in_flight'),
    heldBytes: sum('held_bytes'),
    alerts: new Map(alerts.filter(([, count]) => count > 0)),
  };
}
