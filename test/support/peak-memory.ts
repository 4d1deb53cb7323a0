import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'vitest';

const hostileMibMax = 1024;

/** From here on the most memory that a process has is looked at. */
export interface PeakMemory {
  /** So much more than it had at first has it had since then at most; null where that is not known. */
  growthMib(): number | null;
  /** It has grown by less than so much: by less than a gibibyte in hostile tests. */
  expectBounded(mibMax?: number): void;
}

/**
 * Looks at this process, gateway, callers and upstreams together, or at another one. Where the kernel does not say what a process has had
 * at most, nothing is expected.
 */
export function watchPeakMemory(pid: number | 'self' = 'self'): PeakMemory {
  const place = `/proc/${pid}`;
  const isKnown = existsSync(`${place}/clear_refs`);
  const before = isKnown ? kibibytesOf(place, 'VmRSS') : 0;
  // The peak of all that it did before is forgotten.
  if (isKnown) writeFileSync(`${place}/clear_refs`, '5');
  const growthMib = () => (isKnown ? (kibibytesOf(place, 'VmHWM') - before) / 1024 : null);
  return {
    growthMib,
    expectBounded: (mibMax = hostileMibMax) => expect(growthMib() ?? 0).toBeLessThan(mibMax),
  };
}

/** The most that a process has had since it began, or one that it has started: of one that lives through nothing but hostile tests. */
export function peakMemoryOf(pid: number | undefined): Pick<PeakMemory, 'expectBounded'> {
  const isKnown = pid !== undefined && existsSync(`/proc/${pid}/status`);
  const family = isKnown ? [pid, ...childrenOf(pid)] : [];
  const peaks = family.map((each) => kibibytesOf(`/proc/${each}`, 'VmHWM') / 1024);
  return {
    expectBounded(mibMax = hostileMibMax) {
      for (const mib of peaks) expect(mib).toBeLessThan(mibMax);
    },
  };
}

/** A gateway's process is started by the one that waits for it. */
function childrenOf(pid: number): readonly number[] {
  const path = `/proc/${pid}/task/${pid}/children`;
  const children = existsSync(path) ? readFileSync(path, 'utf8').trim() : '';
  return children === '' ? [] : children.split(' ').map(Number);
}

function kibibytesOf(place: string, name: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`${place}/status`, 'utf8');
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]);
}
