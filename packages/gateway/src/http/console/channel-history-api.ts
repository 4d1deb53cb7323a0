import { channelCourse, lastFailures, shortCourses } from '../../admin/channels/channel-course.ts';
import type { ChannelSight } from '../../admin/channels/channel-views.ts';
import type { ChannelHistory } from '../../ports/channel-history.ts';
import { channelCourses, channelFailurePage, channelHistoryView, historyQuery } from './contract/channels.ts';
import { answer, problem } from './frame/answer.ts';
import type { ConsoleApi } from './frame/console-api.ts';

/** The sources of the answers. */
export interface HistorySources {
  readonly channelHistory: ChannelHistory;
  channelSight(): ChannelSight;
}

const channelsTag = { access: 'operator', tag: 'Channels' } as const;

/** The last day of channels. */
export function channelHistoryApi(api: ConsoleApi, sources: HistorySources): void {
  const tools = () => ({ history: sources.channelHistory, nowMs: sources.channelSight().nowMs });
  api.route(
    {
      ...{ method: 'get', path: '/channel-courses', ...channelsTag, answer: channelCourses },
      summary: 'The success of every channel by hour, of the last day',
    },
    async () => answer(await shortCourses(tools())),
  );
  const ofOne = { method: 'get', ...channelsTag } as const;
  api.route(
    {
      ...{ ...ofOne, path: '/channels/{id}/history', query: historyQuery, answer: channelHistoryView },
      summary: 'The last hours of a channel: calls, errors by kind, success, time to first content',
    },
    async ({ params: { id }, query: { hours } }) => {
      if (!sources.channelSight().catalogue.channels.has(id)) return noChannel(id);
      return answer(await channelCourse(tools(), id, hours));
    },
  );
  api.route(
    {
      ...{ ...ofOne, path: '/channels/{id}/failures', answer: channelFailurePage },
      summary: 'The last failures of a channel, newest first, with the calls they belong to',
    },
    async ({ params: { id } }) => {
      if (!sources.channelSight().catalogue.channels.has(id)) return noChannel(id);
      return answer(await lastFailures(tools(), id));
    },
  );
}

function noChannel(id: string) {
  return problem('not_found', `There is no channel "${id}".`);
}
