import { expect, test } from 'vitest';
import { nanoUsd } from '../money/money.ts';
import { createMetrics } from './metrics.ts';
import { completeEntry } from './testing.ts';

const refusedBeforeAnyAttempt = {
  ...completeEntry,
  status: 'failed',
  unbilledReason: 'refused_by_gateway',
  errorCode: 'model_not_found',
  attempts: [],
} as const;

async function exposed(record: (metrics: ReturnType<typeof createMetrics>) => void): Promise<string[]> {
  const metrics = createMetrics({ ledgerQueued: () => 7, bytesHeld: () => 4096 });
  record(metrics);
  return (await metrics.expose()).text.split('\n');
}

test('counts calls by surface, status and code, and the unbilled by reason', async () => {
  const lines = await exposed((metrics) => {
    metrics.callFinished(completeEntry);
    metrics.callFinished(completeEntry);
    metrics.callFinished(refusedBeforeAnyAttempt);
  });
  expect(lines).toContain('headgate_calls_total{surface="chat-completions",status="complete",code=""} 2');
  expect(lines).toContain(
    'headgate_calls_total{surface="chat-completions",status="failed",code="model_not_found"} 1',
  );
  expect(lines).toContain('headgate_unbilled_calls_total{reason="refused_by_gateway"} 1');
});

test('puts times into cumulative buckets of seconds', async () => {
  const lines = await exposed((metrics) =>
    metrics.callFinished({ ...completeEntry, durationMs: 250, ttftMs: null }),
  );
  const labels = 'surface="chat-completions",model="small"';
  expect(lines).toContain(`headgate_call_duration_seconds_bucket{${labels},le="0.1"} 0`);
  expect(lines).toContain(`headgate_call_duration_seconds_bucket{${labels},le="0.25"} 1`);
  expect(lines).toContain(`headgate_call_duration_seconds_bucket{${labels},le="+Inf"} 1`);
  expect(lines).toContain(`headgate_call_duration_seconds_sum{${labels}} 0.25`);
  expect(lines).toContain(`headgate_time_to_first_content_seconds_count{${labels}} 0`);
  expect(lines).toContain(
    'headgate_gateway_overhead_seconds_bucket{surface="chat-completions",le="0.00025"} 1',
  );
});

test('adds up tokens, charge and cost exactly', async () => {
  const lines = await exposed((metrics) => {
    metrics.callFinished(completeEntry);
    metrics.callFinished({ ...completeEntry, chargeNanoUsd: nanoUsd(9_007_199_254_740_993n) });
  });
  const labels = 'surface="chat-completions",model="small"';
  expect(lines).toContain(`headgate_tokens_total{${labels},type="input"} 200`);
  expect(lines).toContain(`headgate_tokens_total{${labels},type="cache_read"} 100`);
  expect(lines).toContain(`headgate_tokens_total{${labels},type="output"} 40`);
  expect(lines).toContain(`headgate_charge_usd_total{${labels}} 9007199.255975560`);
  expect(lines).toContain('headgate_upstream_cost_usd_total{channel="channel-a"} 0.000002000');
  expect(lines).toContain('headgate_attempts_total{channel="channel-a",result="answered"} 2');
});

test('a made-up model name makes no series, and the number of series is bounded', async () => {
  const lines = await exposed((metrics) => {
    metrics.callFinished({ ...refusedBeforeAnyAttempt, modelRequested: 'made-up' });
    for (let n = 0; n < 1500; n++) metrics.callFinished({ ...completeEntry, modelRequested: `model-${n}` });
  });
  expect(lines.filter((line) => line.includes('made-up'))).toEqual([]);
  expect(lines.filter((line) => line.startsWith('headgate_charge_usd_total'))).toHaveLength(1001);
  expect(lines).toContain('headgate_call_duration_seconds_count{surface="other",model="other"} 500');
});

test('escapes label values', async () => {
  const lines = await exposed((metrics) =>
    metrics.callFinished({ ...completeEntry, modelRequested: 'a"b\\c' }),
  );
  expect(lines.some((line) => line.includes('model="a\\"b\\\\c"'))).toBe(true);
});

test('shows what is in flight, the ledger, alerts and the process itself', async () => {
  const lines = await exposed((metrics) => {
    metrics.callStarted();
    metrics.callStarted();
    metrics.callFinished(completeEntry);
    metrics.ledgerCommitted(12, 1.5);
    metrics.alertRaised('ledger-conflict');
  });
  expect(lines).toContain('headgate_calls_in_flight 1');
  expect(lines).toContain('headgate_ledger_queue_entries 7');
  expect(lines).toContain('headgate_ledger_entries_total 12');
  expect(lines).toContain('headgate_ledger_commit_seconds_bucket{le="0.002"} 1');
  expect(lines).toContain('headgate_alerts_total{kind="ledger-conflict"} 1');
  expect(lines.some((line) => line.startsWith('nodejs_eventloop_lag_p99_seconds '))).toBe(true);
  expect(lines.some((line) => line.startsWith('process_cpu_seconds_total '))).toBe(true);
});

test('every line is of the text format, and every family has its help and type once', async () => {
  const lines = await exposed((metrics) => metrics.callFinished(completeEntry));
  const sample = /^[a-z][a-z0-9_]*(\{([a-z_]+="([^"\\\n]|\\.)*",?)*\})? (-?[0-9.e+-]+|NaN|\+Inf)$/i;
  for (const line of lines)
    expect(line === '' || line.startsWith('# ') || sample.test(line), line).toBe(true);
  const families = lines.filter((line) => line.startsWith('# TYPE ')).map((line) => line.split(' ')[2]);
  expect(new Set(families).size).toBe(families.length);
});
