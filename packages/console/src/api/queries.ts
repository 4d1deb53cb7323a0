import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { Problem } from './problem.ts';

/** Made once: what the page has fetched, and how long it is taken for fresh. */
export function createQueries(onSignedOut: () => void): QueryClient {
  const onError = (error: Error): void => {
    if (error instanceof Problem && error.status === 401) onSignedOut();
  };
  return new QueryClient({
    queryCache: new QueryCache({ onError }),
    mutationCache: new MutationCache({ onError }),
    defaultOptions: {
      queries: {
        staleTime: 10_000,
        // A refusal stays one. A gateway that is away may be back in a moment.
        retry: (failures, error) =>
          error instanceof Problem && isPassing(error) && navigator.onLine && failures < 2,
        networkMode: 'always',
        // As soon as the network is back, pages ask again for all that could not be loaded, or may be old.
        refetchOnReconnect: 'always',
      },
      mutations: { networkMode: 'always' },
    },
  });
}

function isPassing({ status }: Problem): boolean {
  return status === 0 || status === 502 || status === 503;
}
