import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext } from 'playwright-core';
import type { RunningGateway } from '../../../packages/gateway/src/main.ts';

/** Who looks at a page: `stranger` is a member of another account than all others. */
export type Role = 'anonymous' | 'viewer' | 'member' | 'admin' | 'operator' | 'stranger';

export async function signInAs(
  role: Role,
  context: BrowserContext,
  gateway: RunningGateway,
  dataDir: string,
): Promise<void> {
  if (role === 'anonymous') return;
  const token = readFileSync(join(dataDir, 'operator-token'), 'utf8').trim();
  await context.setExtraHTTPHeaders({ authorization: `Bearer ${token}` });
  const isOperator = role === 'operator';
  await context.route('**/api/v1/session', (route) =>
    route.fulfill({
      json: {
        person: { id: role, login: role, name: `A ${role}`, isOperator, theme: null, language: null },
        memberships: isOperator ? [] : [{ account: { id: 'demo', name: 'Demo' }, role }],
        deployment: {
          name: 'headgate',
          apiOrigin: gateway.apiOrigin,
          consoleOrigin: gateway.consoleOrigin,
          language: 'en',
          currency: 'USD',
          siblings: [],
        },
        isSetUp: true,
      },
    }),
  );
}
