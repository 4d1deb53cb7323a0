import { useState } from 'react';

/** The token of a link stands behind its `#`, where no server and no log sees it; it is taken out of the address at once. */
export function useLinkToken(): string {
  const [token] = useState(() => {
    const found = location.hash.slice(1);
    if (found !== '') history.replaceState(history.state, '', location.pathname + location.search);
    return found;
  });
  return token;
}
