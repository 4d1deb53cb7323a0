import type { Run } from '../answer/runs.ts';
import type { Rendering, Stamp } from '../protocol.ts';

/** One id for the whole of an answer. */
export function responseId(stamp: Stamp): string {
  return `resp_sim${padded(stamp)}`;
}

/** Unique in one simulator; the prefix tells the kind of item, and the vendor insists on it. */
export function itemId({ stamp }: Rendering, run: Run, index: number): string {
  return `${itemPrefix(run)}_sim${padded(stamp)}_${index}`;
}

function itemPrefix(run: Run): string {
  switch (run.kind) {
    case 'reasoning':
      return 'rs';
    case 'text':
    case 'refusal':
      return 'msg';
    case 'call':
      return run.tool.kind === 'custom' ? 'ctc' : 'fc';
  }
}

/** Unique in one simulator: its request and the call's number. */
export function callId({ stamp }: Rendering, call: number): string {
  return `call_sim${padded(stamp)}_${call}`;
}

/** Opaque to everyone but the simulator. The value an item opens with is not the one it ends with. */
export function sealedReasoning({ stamp }: Rendering, part: 'opening' | 'whole'): string {
  return `gAAAAAsimulated${part === 'whole' ? 'WHOLE' : 'OPEN'}${padded(stamp)}-_==`;
}

function padded({ sequence }: Stamp): string {
  return String(sequence).padStart(12, '0');
}
