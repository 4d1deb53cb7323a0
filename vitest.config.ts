import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['packages/**/*.test.ts', 'test/**/*.test.ts', 'bench/**/*.test.ts', 'live/**/*.test.ts'],
    pool: 'forks',
    // Black-box tests that are concurrent wait for time-outs most of the time.
    maxConcurrency: 12,
    testTimeout: 20_000,
    hookTimeout: 20_000,
  },
});
