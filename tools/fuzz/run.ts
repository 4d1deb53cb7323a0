import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { Platform } from '@headgate/protocols';
import { newKey, type RunningHeadgate, startConfigured } from '../harness/headgate-process.ts';
import { peakResidentKib } from '../harness/process-usage.ts';
import { quantile } from '../harness/statistics.ts';
import { Bystander } from './bystander.ts';
import { Caller, type Seen } from './caller.ts';
import { bystander, configurationOf, keyVariable, platforms } from './configuration.ts';
import { type FuzzCase, fuzzCase, type Site } from './fuzz-case.ts';
import { countLedger } from './ledger.ts';
import { type Counted, scrape } from './metrics.ts';
import { channelsOf, modelsOf, startUpstreams } from './upstreams.ts';
import { complaintOf } from './verdict.ts';

export interface FuzzPlan {
  /** Of the first request; each has the next one. */
  readonly seed: number;
  readonly requests: number;
  readonly callers: number;
  /** How long the gateway warms up, and then the bystander calls alone. */
  readonly idleMs: number;
  /** Called behind every so many requests. */
  readonly progress?: () => void;
}

/** The yield of a run. */
export interface FuzzResult {
  readonly plan: FuzzPlan;
  readonly durationMs: number;
  /** Answers by their status; 0 where none came. */
  readonly statuses: ReadonlyMap<number, number>;
  /** Of a bystander's calls, before the fuzz and during it. */
  readonly idleP99Ms: number;
  readonly bystanderP50Ms: number;
  readonly bystanderP99Ms: number;
  /** Of the same calls without a gateway. */
  readonly directP99Ms: number;
  readonly bystanderCalls: number;
  readonly peakMib: number;
  readonly entries: number;
  readonly alerts: ReadonlyMap<string, number>;
  /** Everything that should not be; each names the seed that shows it again. */
  readonly complaints: readonly string[];
}

const complaintsMax = 50;
export const progressEvery = 10_000;

/** Sends the requests to a gateway process of its own, and looks at everything that must hold when they are over. */
export async function runFuzz(plan: FuzzPlan): Promise<FuzzResult> {
  const upstreams = await startUpstreams();
  const channels = channelsOf(upstreams);
  const keys = Object.fromEntries(platforms.map((id) => [id, newKey()])) as Record<Platform, string>;
  const own = newKey();
  const gateway = await startConfigured({
    yaml: configurationOf(channels, upstreams.quiet),
    environment: Object.fromEntries(
      [...Object.entries(keys), [bystander.key, own]].map(([id, key]) => [keyVariable(id ?? ''), key ?? '']),
    ),
    core: null,
  });
  try {
    const operatorToken = readFileSync(join(gateway.dataDir, 'operator-token'), 'utf8').trim();
    const at = { origin: `http://127.0.0.1:${gateway.port}`, direct: upstreams.quiet };
    const run = new Run(plan, gateway, { keys, models: modelsOf(channels), operatorToken });
    return await run.result(new Bystander({ ...at, key: own, model: bystander.model }));
  } finally {
    await gateway.stop();
    await upstreams.close();
  }
}

class Run {
  readonly #plan: FuzzPlan;
  readonly #gateway: RunningHeadgate;
  readonly #site: Site;
  readonly #complaints: string[] = [];
  readonly #statuses = new Map<number, number>();
  /** Of calls that were answered: each has an entry. */
  readonly #answered: string[] = [];
  #sent = 0;

  constructor(plan: FuzzPlan, gateway: RunningHeadgate, site: Site) {
    this.#plan = plan;
    this.#gateway = gateway;
    this.#site = site;
  }

  async result(beside: Bystander): Promise<FuzzResult> {
    const { callers, idleMs } = this.#plan;
    // The first calls compile code: they are nobody's measure.
    await setTimeout(idleMs);
    await beside.report();
    await setTimeout(idleMs);
    const idle = await beside.report();
    const startedAt = performance.now();
    await Promise.all(Array.from({ length: callers }, () => this.#call()));
    const durationMs = performance.now() - startedAt;
    const { latenciesMs, directMs, failures } = await beside.end();
    this.#complaints.push(...failures.map((failure) => `a bystander's call failed: ${failure}`));
    const counted = await this.#settled();
    const peakMib = peakResidentKib(this.#gateway.pid) / 1024;
    await this.#gateway.end();
    return {
      plan: this.#plan,
      durationMs,
      statuses: this.#statuses,
      idleP99Ms: quantile(idle.latenciesMs, 0.99),
      bystanderP50Ms: quantile(latenciesMs, 0.5),
      bystanderP99Ms: quantile(latenciesMs, 0.99),
      directP99Ms: quantile(directMs, 0.99),
      bystanderCalls: latenciesMs.length,
      peakMib,
      entries: await this.#checkLedger(counted),
      alerts: counted.alerts,
      complaints: this.#complaints,
    };
  }

  async #call(): Promise<void> {
    const { seed, requests, progress } = this.#plan;
    const { port, consolePort } = this.#gateway;
    const caller = new Caller({ api: port, console: consolePort });
    while (this.#sent < requests && this.#complaints.length < complaintsMax) {
      const fuzz = fuzzCase(seed + this.#sent, this.#site);
      this.#sent++;
      if (this.#sent % progressEvery === 0) progress?.();
      this.#note(fuzz, await caller.send(fuzz));
    }
    caller.close();
  }

  #note(fuzz: FuzzCase, seen: Seen): void {
    const { answer } = seen;
    this.#statuses.set(answer.status, (this.#statuses.get(answer.status) ?? 0) + 1);
    const complaint = complaintOf(fuzz, seen);
    if (complaint !== null) this.#complaints.push(`seed ${fuzz.seed}: ${complaint}\n${toldOf(fuzz, seen)}`);
    if (answer.status === 200 && answer.header('x-headgate-attempts') !== null)
      this.#answered.push(answer.header('x-trace-id') ?? '');
  }

  /** What is still under way comes to its end; what does not is a complaint. */
  async #settled(): Promise<Counted> {
    const { consolePort, dataDir } = this.#gateway;
    let counted = await scrape(consolePort, dataDir);
    for (let tries = 0; tries < 100 && (counted.inFlight > 0 || counted.heldBytes > 0); tries++) {
      await setTimeout(100);
      counted = await scrape(consolePort, dataDir);
    }
    if (counted.inFlight > 0) this.#complaints.push(`${counted.inFlight} calls never ended`);
    if (counted.heldBytes > 0) this.#complaints.push(`${counted.heldBytes} bytes are held for ever`);
    for (const kind of ['bug', 'ledger-conflict', 'ledger-unavailable'])
      if (counted.alerts.has(kind))
        this.#complaints.push(`${counted.alerts.get(kind)} alerts of ${kind}: ${this.#logged(kind)}`);
    return counted;
  }

  #logged(word: string): string {
    const lines = readFileSync(this.#gateway.logFile, 'utf8').split('\n');
    return lines
      .filter((line) => line.includes(word))
      .slice(0, 5)
      .join('\n');
  }

  async #checkLedger({ calls }: Counted): Promise<number> {
    const { entries, open, traceIds, complaints } = await countLedger(this.#gateway.dataDir);
    this.#complaints.push(...complaints);
    if (open > 0) this.#complaints.push(`${open} entries are not at their end`);
    if (entries !== calls)
      this.#complaints.push(`${calls} calls were admitted, and there are ${entries} entries`);
    const missing = this.#answered.filter((traceId) => !traceIds.has(traceId));
    if (missing.length > 0)
      this.#complaints.push(`${missing.length} answers have no entry: ${missing.slice(0, 3).join(', ')}`);
    return entries;
  }
}

/** Enough to see what was sent and what came. */
function toldOf({ port, pieces, conduct }: FuzzCase, { answer, isBroken }: Seen): string {
  const sent = Buffer.concat(pieces).toString('latin1').slice(0, 1500);
  const told = `${answer.head.slice(0, 300)}\n\n${answer.body.toString().slice(0, 600)}`;
  return `  to ${port}, ${conduct}: ${JSON.stringify(sent)}\n  answered${isBroken ? ' and broken off' : ''}: ${JSON.stringify(told)}`;
}
