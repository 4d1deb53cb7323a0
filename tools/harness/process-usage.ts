import { readdirSync, readFileSync } from 'node:fs';

/** CPU time of a process, all its threads and its children, in microseconds, from the kernel's own accounting. */
export function cpuTimeUs(pid: number): number {
  let nanoseconds = 0;
  for (const member of processTree(pid)) {
    for (const thread of readdirSync(`/proc/${member}/task`)) {
      nanoseconds += Number(readFileSync(`/proc/${member}/task/${thread}/schedstat`, 'utf8').split(' ')[0]);
    }
  }
  return nanoseconds / 1000;
}

/** How often the threads of a process and its children gave their core away or had it taken. */
export function contextSwitches(pid: number): number {
  let switches = 0;
  for (const member of processTree(pid)) {
    for (const thread of readdirSync(`/proc/${member}/task`)) {
      const status = readFileSync(`/proc/${member}/task/${thread}/status`, 'utf8');
      for (const [, count] of status.matchAll(/^(?:non)?voluntary_ctxt_switches:\s+(\d+)/gm))
        switches += Number(count);
    }
  }
  return switches;
}

/** Resident memory of a process and its children, in KiB. */
export function residentKib(pid: number): number {
  return statusKib(pid, /^VmRSS:\s+(\d+) kB/m);
}

/** The most resident memory that each of them ever had, together. */
export function peakResidentKib(pid: number): number {
  return statusKib(pid, /^VmHWM:\s+(\d+) kB/m);
}

function statusKib(pid: number, line: RegExp): number {
  let kib = 0;
  for (const member of processTree(pid))
    kib += Number(line.exec(readFileSync(`/proc/${member}/status`, 'utf8'))?.[1] ?? 0);
  return kib;
}

function processTree(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    .trim()
    .split(' ')
    .filter(Boolean);
  return [pid, ...children.flatMap((child) => processTree(Number(child)))];
}
