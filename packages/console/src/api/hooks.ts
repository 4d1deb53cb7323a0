import {
  type InfiniteData,
  keepPreviousData,
  type UseInfiniteQueryResult,
  type UseMutationResult,
  type UseQueryResult,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { useRef } from 'react';
import { api, ask, type Method, type Query, type Tagged } from './client.ts';
import type { Problem } from './problem.ts';

export interface GetOptions {
  /** False puts the question off. */
  readonly enabled?: boolean;
  /** Asked again after so long, where nothing tells of changes. */
  readonly refetchMs?: number;
  /** How long an answer is fresh. */
  readonly staleMs?: number;
}

/** One page of a list. */
export interface ListPage<Item> {
  readonly items: readonly Item[];
  readonly next: string | null;
}

/** A list that grows by pages as it is read. */
export type CursorList<Item, Page extends ListPage<Item> = ListPage<Item>> = UseInfiniteQueryResult<
  InfiniteData<Page, string | null>,
  Problem
>;

/** A question and how it stands, whatever it is about. */
export type AskedOnce = Pick<UseQueryResult<unknown, Problem>, 'data' | 'error' | 'isPending' | 'refetch'>;

/** The answer to `GET path`. While parameters change, the answer before stays. */
export function useGet<Value>(
  path: string,
  query: Query = {},
  options: GetOptions = {},
): UseQueryResult<Value, Problem> {
  return useQuery<Value, Problem>({
    queryKey: [path, query],
    queryFn: ({ signal }) => api.get<Value>(path, { query, signal }),
    placeholderData: keepPreviousData,
    ...settingsOf(options),
  });
}

/** One thing with its state, for a form that changes it: give `data.etag` to `useChange`. */
export function useTagged<Value>(
  path: string,
  options: GetOptions = {},
): UseQueryResult<Tagged<Value>, Problem> {
  return useQuery<Tagged<Value>, Problem>({
    queryKey: [path, 'tagged'],
    queryFn: ({ signal }) => api.getTagged<Value>(path, { signal }),
    ...settingsOf(options),
  });
}

/** The list at `GET path`, page after page: for `Table`, as `query`. */
export function useCursorList<Item, Page extends ListPage<Item> = ListPage<Item>>(
  path: string,
  query: Query = {},
  options: GetOptions = {},
): CursorList<Item, Page> {
  return useInfiniteQuery<
    Page,
    Problem,
    InfiniteData<Page, string | null>,
    readonly unknown[],
    string | null
  >({
    queryKey: [path, query, 'pages'],
    queryFn: ({ signal, pageParam }) =>
      api.get<Page>(path, { query: { ...query, ...(pageParam === null ? {} : further(pageParam)) }, signal }),
    initialPageParam: null,
    getNextPageParam: ({ next }) => next,
    // A long list that was read to its end is not fetched anew, page by page, because somebody comes back to its tab.
    refetchOnWindowFocus: ({ state }) => (state.data?.pages.length ?? 0) < 3,
    placeholderData: keepPreviousData,
    ...settingsOf(options),
  });
}

/** The first page is short, to be there soon; who reads on reads much. */
function further(cursor: string) {
  return { cursor, limit: 200 };
}

export interface ChangeOptions<Value> {
  /** All that was asked at paths that begin so is asked again. */
  readonly invalidates: readonly string[];
  readonly onDone?: (value: Value) => void;
}

export interface Change<Body> {
  readonly body?: Body;
  readonly etag?: string | null;
  /** In the place of the path of the hook, where it depends on what is changed. */
  readonly path?: string;
}

/** Changes something: `useChange('PATCH', '/keys/1', { invalidates: ['/keys'] }).mutateAsync({ body, etag })`. */
export function useChange<Body, Value = void>(
  method: Exclude<Method, 'GET'>,
  path: string,
  { invalidates, onDone }: ChangeOptions<Value>,
): UseMutationResult<Value, Problem, Change<Body>> {
  const queries = useQueryClient();
  // One for all tries of the same creation, and a new one once it has been made.
  const key = useRef<{ readonly body: string; readonly key: string } | null>(null);
  return useMutation<Value, Problem, Change<Body>>({
    mutationFn: (change) => {
      const text = JSON.stringify(change.body ?? null);
      if (key.current?.body !== text) key.current = { body: text, key: newIdempotencyKey() };
      return ask<Value>(method, change.path ?? path, {
        body: change.body,
        etag: change.etag,
        ...(method === 'POST' ? { idempotencyKey: key.current.key } : {}),
      });
    },
    onSuccess: async (value) => {
      key.current = null;
      onDone?.(value);
      await queries.invalidateQueries({
        predicate: ({ queryKey: [first] }) =>
          typeof first === 'string' && invalidates.some((begin) => first.startsWith(begin)),
      });
    },
  });
}

/** `crypto.randomUUID` is only for pages that came by TLS or from this machine. */
function newIdempotencyKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('');
}

function settingsOf({ enabled, refetchMs, staleMs }: GetOptions) {
  return {
    ...(enabled === undefined ? {} : { enabled }),
    ...(refetchMs === undefined ? {} : { refetchInterval: refetchMs }),
    ...(staleMs === undefined ? {} : { staleTime: staleMs }),
  };
}
