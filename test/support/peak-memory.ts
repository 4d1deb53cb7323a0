import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'vitest';

const mebibyte = 1024 * 1024;
const hostileMibMax = 1024;

/** From here on the most memory that this process has is looked at, gateway, callers and upstreams together. */
export interface PeakMemory {
  /** The hostile tests since then have made no gibibyte of it. */
  expectBounded(): void;
}

/** Where the kernel does not say what a process has had at most, nothing is expected. */
export function watchPeakMemory(): PeakMemory {
  const before = process.memoryUsage().rss;
  const isKnown = existsSync('/proc/self/clear_refs');
  // The peak of all tests before, which ran in this process, is forgotten.
  if (isKnown) writeFileSync('/proc/self/clear_refs', '5');
  return {
    expectBounded() {
      if (isKnown) expect((peakBytes() - before) / mebibyte).toBeLessThan(hostileMibMax);
    },
  };
}

function peakBytes(): number {
  const status = readFileSync('/proc/self/status', 'utf8');
  return Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1]) * 1024;
}
