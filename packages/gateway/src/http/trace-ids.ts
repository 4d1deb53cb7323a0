import { randomFillSync } from 'node:crypto';

/** Random bytes of one id; ids whose bytes are asked of the system together. */
const idBytes = 10;
const idsInPool = 512;

/**
 * Makes ids of calls: a UUID of version 7 without its dashes (RFC 9562 §5.7), which begins with the time and has 74 random
 * bits. One system call serves hundreds of them.
 */
export function traceIds(now: () => number): () => string {
  const pool = Buffer.alloc(idBytes * idsInPool);
  let at = pool.length;
  let timeMs = -1;
  let prefix = '';
  return () => {
    if (at === pool.length) {
      randomFillSync(pool);
      for (let id = 0; id < pool.length; id += idBytes) {
        pool.writeUInt8(0x70 | (pool.readUInt8(id) & 0x0f), id);
        pool.writeUInt8(0x80 | (pool.readUInt8(id + 2) & 0x3f), id + 2);
      }
      at = 0;
    }
    const nowMs = now();
    if (nowMs !== timeMs) {
      timeMs = nowMs;
      prefix = nowMs.toString(16).padStart(12, '0');
    }
    at += idBytes;
    return prefix + pool.toString('hex', at - idBytes, at);
  };
}
