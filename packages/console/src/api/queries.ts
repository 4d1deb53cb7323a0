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
        retry: (failures, error) => error instanceof Problem && isPassing(error) && failures < 2,
        networkMode: 'always',
      },
      mutations: { networkMode: 'always' },
    },
  });
}

function isPassing({ status }: Problem): boolean {
  return status === 0 || status === 502 || status === 503;
}
