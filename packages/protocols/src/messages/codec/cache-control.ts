import type { CacheTtl, Turn } from '../../turn.ts';
import { recordOf, type WireRecord } from '../../wire-values.ts';

/** How long the prompt up to this block or tool is to be cached. */
export function readCacheTtl(wire: WireRecord): CacheTtl {
  const control = recordOf(wire['cache_control']);
  if (control['type'] !== 'ephemeral') return null;
  return control['ttl'] === '1h' ? '1h' : '5m';
}

/** More of them are refused by the vendor. */
const breakpointsMax = 4;

/** Writes the breakpoints of a request in the order of its prompt; where there are too many, the last ones, which reach furthest. */
export class CacheBreakpoints {
  #skipped: number;

  constructor(turn: Turn) {
    this.#skipped = Math.max(0, ttlsOf(turn).filter((ttl) => ttl !== null).length - breakpointsMax);
  }

  write(ttl: CacheTtl): WireRecord {
    if (ttl === null || this.#skipped-- > 0) return {};
    return { cache_control: ttl === '5m' ? { type: 'ephemeral' } : { type: 'ephemeral', ttl } };
  }
}

function ttlsOf({ tools, system, messages }: Turn): readonly CacheTtl[] {
  const blocks = messages.flatMap(({ content }) => content);
  const inner = blocks.flatMap((block) => (block.kind === 'tool-result' ? block.content : []));
  return [...tools, ...system, ...blocks, ...inner].map((part) =>
    'cacheTtl' in part ? part.cacheTtl : null,
  );
}
