/** True in `npm run test:slow`, which runs in its slow form every test file that imports this module. */
export const isSlow = process.env['HEADGATE_TESTS'] === 'slow';

/** How often a property is tried: `full` times in the slow form, and enough to notice a plain mistake otherwise. */
export function tries(full: number): number {
  return isSlow ? full : Math.min(full, Math.max(50, Math.ceil(full / 20)));
}
