import { ChannelBoard } from '../../admin/channels/channel-board.ts';
import type { ChannelSources } from './channels-api.ts';
import type { ModelSources } from './models-api.ts';

const notHere = () => {
  throw new Error('not here');
};

/** Sources of a console that is not asked about channels. */
export const noChannels: ChannelSources & ModelSources = {
  channelTools: notHere,
  trialTools: notHere,
  channelSight: notHere,
  board: new ChannelBoard(notHere),
  modelTools: notHere,
  calls: { spend: notHere },
  channelHistory: { course: notHere, courses: notHere, failures: notHere },
};
