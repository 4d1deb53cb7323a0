export type * from './channels.ts';
export type * from './events.ts';
export type * from './operations.ts';
export type * from './owners.ts';
export type * from './routing.ts';
