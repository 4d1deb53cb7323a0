import type { ChannelSources } from './channels-api.ts';

const notHere = () => {
  throw new Error('not here');
};

/** Sources of a console that is not asked about channels. */
export const noChannels: ChannelSources = {
  channelTools: notHere,
  trialTools: notHere,
  channelSight: notHere,
  calls: { spend: notHere },
};
