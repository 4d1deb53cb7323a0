import { CSPProvider } from '@base-ui/react/csp-provider';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { useState } from 'react';
import { createQueries } from '../api/queries.ts';
import { createPages } from './routes.ts';
import { goToSignIn } from './sign-in-place.ts';

/** The whole of the console: what was fetched, and the page that the address names. */
export function App() {
  const [pages] = useState(createPages);
  const [queries] = useState(() => createQueries(() => goToSignIn(pages)));
  return (
    <CSPProvider disableStyleElements>
      <QueryClientProvider client={queries}>
        <RouterProvider router={pages} />
      </QueryClientProvider>
    </CSPProvider>
  );
}
