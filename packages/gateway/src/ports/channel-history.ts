import type { OutcomeCase } from '../route/outcome.ts';

/** An attempt that a channel failed in, with the call that it was made for. */
export interface ChannelFailure {
  readonly channelId: string;
  readonly atMs: number;
  readonly traceId: string;
  /** The public model that was asked for. */
  readonly model: string;
  readonly upstreamModel: string;
  readonly kind: OutcomeCase;
  /** The upstream's words without our secrets; null where there are none. */
  readonly words: string | null;
}

/** The attempts of a channel that ended in one step of time. */
export interface CoursePoint {
  readonly startMs: number;
  readonly good: number;
  readonly bad: number;
  /** Milliseconds to first content that half of them, and 95 of 100, stayed below; null where none was timed. */
  readonly ttftP50Ms: number | null;
  readonly ttftP95Ms: number | null;
  /** How often it failed in which way. */
  readonly faults: Readonly<Partial<Record<OutcomeCase, number>>>;
}

/** The course of every channel that was asked: attempts by step of time, null where there were none. */
export interface ShortCourse {
  readonly channelId: string;
  readonly calls: number;
  readonly success: readonly (number | null)[];
}

/** A stretch of time in equal steps; `fromMs` is the beginning of the first. */
export interface CourseSpan {
  readonly fromMs: number;
  readonly stepMs: number;
  readonly steps: number;
}

/** The last day of channels, as all processes have seen it. */
export interface ChannelHistory {
  course(channelId: string, span: CourseSpan): Promise<readonly CoursePoint[]>;
  courses(span: CourseSpan): Promise<readonly ShortCourse[]>;
  /** Newest first. */
  failures(channelId: string, limit: number): Promise<readonly ChannelFailure[]>;
}

/** Failures that are kept of a channel. */
export const failuresKept = 20;
