import type { ChannelItem, ChannelPage, LiveChannelsView } from '@headgate/gateway/console';
import { type InfiniteData, useQueryClient } from '@tanstack/react-query';
import { useLive } from '../../api/live.ts';

type Pages = InfiniteData<ChannelPage, string | null>;

/** The numbers in lists of channels follow what happens on them; a state that changes has the list asked for again, whose counts change too. */
export function useLiveList(): void {
  const queries = useQueryClient();
  useLive<LiveChannelsView>('channels', ({ standings = [] }) => {
    const byId = new Map(standings.map((standing) => [standing.id, standing]));
    let hasTurned = false;
    queries.setQueriesData<Pages>({ predicate: ({ queryKey }) => isList(queryKey) }, (list) => {
      if (list === undefined) return list;
      const merge = (item: ChannelItem): ChannelItem => {
        const standing = byId.get(item.id);
        if (standing === undefined) return item;
        hasTurned ||= standing.state !== item.state;
        return { ...item, ...standing };
      };
      return { ...list, pages: list.pages.map((page) => ({ ...page, items: page.items.map(merge) })) };
    });
    if (hasTurned) void queries.invalidateQueries({ predicate: ({ queryKey }) => isList(queryKey) });
  });
}

/** The page of a channel is asked for again when something has happened on it: at most once a second. */
export function useLiveChannel(id: string, path: string): void {
  const queries = useQueryClient();
  useLive<LiveChannelsView>('channels', ({ items, standings = [] }) => {
    const isMeant = standings.some((standing) => standing.id === id);
    const hasTurned = items.some(({ channelId }) => channelId === id);
    if (isMeant || hasTurned) void queries.invalidateQueries({ queryKey: [path] });
  });
}

function isList([path, , kind]: readonly unknown[]): boolean {
  return path === '/channels' && kind === 'pages';
}
