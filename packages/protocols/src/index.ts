export * from './error.ts';
export * from './protocol.ts';
export * from './result.ts';
export * from './usage.ts';
