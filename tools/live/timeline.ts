/** The fate of the channels that are hit: their listeners close, or the simulator is told these words besides. */
export type Incident = { readonly kind: 'down' } | { readonly kind: 'script'; readonly words: string };

export interface Phase {
  readonly name: string;
  readonly lengthMs: number;
  /** Null while all is well. */
  readonly incident: Incident | null;
}

/** Lengths of one timeline, in milliseconds. */
export interface TimelineLengths {
  readonly steadyMs: number;
  readonly incidentMs: number;
  readonly betweenMs: number;
  readonly recoveryMs: number;
}

/** Three minutes. */
export const fullLengths: TimelineLengths = {
  steadyMs: 20_000,
  incidentMs: 18_000,
  betweenMs: 6_000,
  recoveryMs: 22_000,
};

/** Half a minute. */
export const quickLengths: TimelineLengths = {
  steadyMs: 4_000,
  incidentMs: 4_000,
  betweenMs: 500,
  recoveryMs: 3_000,
};

export const hangName = 'hang';

const script = (words: string): Incident => ({ kind: 'script', words });

const incidents: readonly (readonly [string, Incident])[] = [
  // First, while the channels it hits have all the calls: an outage leaves them with few for a while.
  [hangName, script('fault=stall-before-head')],
  ['outage, refused', { kind: 'down' }],
  ['429, retry-after', script('fault=429,retry-after=5s')],
  ['429 without', script('fault=429')],
  ['brown-out 30 %', script('fault=500,share=30%')],
  ['mid-stream 30 %', script('fault=reset-mid-stream,share=30%')],
];

/** Every incident after a time in which all is well, so that the cheap channels it hits have their callers back. */
export function timelineOf({
  steadyMs,
  incidentMs,
  betweenMs,
  recoveryMs,
}: TimelineLengths): readonly Phase[] {
  const phases: Phase[] = [{ name: 'steady', lengthMs: steadyMs, incident: null }];
  for (const [name, incident] of incidents) {
    if (phases.length > 1) phases.push({ name: 'between', lengthMs: betweenMs, incident: null });
    phases.push({ name, lengthMs: incidentMs, incident });
  }
  return [...phases, { name: 'recovery', lengthMs: recoveryMs, incident: null }];
}
