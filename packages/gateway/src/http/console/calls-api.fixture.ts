import { LiveHub } from '../../admin/live/live-hub.ts';

function notHere(): never {
  throw new Error('not here');
}

/** The sources of routes about calls, for tests that ask none of them. */
export const noCalls = {
  callTools: notHere,
  overview: notHere,
  live: new LiveHub({
    ...{ now: () => 0, openCalls: () => 0, nameOf: (id: string) => id, every: () => () => undefined },
    followEvents: notHere,
  }),
};
