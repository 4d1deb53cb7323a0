import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** All that a gateway tells who scrapes it. */
export async function scrapeMetrics(consoleOrigin: string, dataDir: string): Promise<string> {
  const token = readFileSync(join(dataDir, 'scrape-token'), 'utf8').trim();
  const answer = await fetch(`${consoleOrigin}/metrics`, { headers: { authorization: `Bearer ${token}` } });
  return answer.text();
}
