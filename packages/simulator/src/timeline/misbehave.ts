import type { FaultAct, FaultPlace } from '../command/fault.ts';
import type { Ending, Frame, Item, Items } from './frame.ts';
import { frame } from './frame.ts';

export interface PlacedFault {
  readonly act: FaultAct;
  readonly place: FaultPlace;
  /** Content frames before a mid-stream fault; a shorter answer meets it after its last content. */
  readonly at: number;
  readonly stallMs: number;
  /** The error as a frame of the stream, for `error`; streams that number their frames ask how many went before. */
  readonly errorText: (framesSent: number) => string;
  /** Bytes that are no frame of the protocol, for `garble`. */
  readonly garbledText: string;
}

/** Plays the frames and strikes once, at the fault's place. Without a fault the frames pass as they are. */
export function* misbehave(frames: Iterable<Frame>, fault: PlacedFault | null): Items {
  let contentCount = 0;
  let framesSent = 0;
  let isStruck = fault === null;
  for (const next of frames) {
    if (fault !== null && !isStruck && isPlace(fault, next, contentCount)) {
      isStruck = true;
      const ending = yield* strike(fault, framesSent);
      if (ending !== null) return ending;
    }
    if (next.role === 'content') contentCount++;
    if (next.role !== 'head') framesSent++;
    yield next;
  }
  return 'end';
}

function isPlace(fault: PlacedFault, next: Frame, contentCount: number): boolean {
  const isOpening = next.role === 'head' || next.role === 'preamble';
  switch (fault.place) {
    case 'before-head':
      return true;
    case 'before-content':
      return !isOpening;
    case 'mid-stream':
      return !isOpening && (next.role !== 'content' || contentCount >= fault.at);
    case 'before-done':
      return next.role === 'terminal';
  }
}

const notHttp = 'SSH-2.0-simulated\r\nthis is not the protocol you are looking for\r\n';

/** Returns how the answer ends here, or null when it goes on after the fault. */
function* strike(fault: PlacedFault, framesSent: number): Generator<Item, Ending | null, undefined> {
  const isBeforeHead = fault.place === 'before-head';
  switch (fault.act) {
    case 'reset':
      return 'reset';
    case 'cut':
      return 'cut';
    case 'end':
      // Without a head there is no message that could end cleanly.
      return isBeforeHead ? 'cut' : 'end';
    case 'stall':
      yield { kind: 'pause', ms: fault.stallMs };
      return null;
    case 'garble':
      yield isBeforeHead ? frame('head', notHttp) : frame('content', fault.garbledText);
      return isBeforeHead ? 'cut' : null;
    case 'error':
      yield frame('content', fault.errorText(framesSent));
      return 'end';
  }
}
