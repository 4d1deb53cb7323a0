import type { Hono } from 'hono';
import type { ChannelStatus } from '../../admin/channel-status.ts';
import type { Restart } from '../../admin/serving.ts';
import { type AccountSources, accountsApi } from './accounts-api.ts';
import { type EventSources, eventsApi } from './events-api.ts';
import { sendProblem } from './operator-gate.ts';
import { type RouteSources, routeApi } from './route-api.ts';

/** The sources of all answers. */
export interface ApiSources extends RouteSources, EventSources, AccountSources {
  channels(): readonly ChannelStatus[];
  readonly restart: Restart;
}

/** Everything that an operator's program may ask and do, behind the gate. */
export function operationsApi(sources: ApiSources): Hono {
  const routes = routeApi(sources);
  routes.route('/', eventsApi(sources));
  routes.route('/', accountsApi(sources));
  routes.get('/channels', (context) => context.json({ channels: sources.channels() }));
  routes.post('/restart', async (context) => {
    const restarted = await sources.restart();
    if (restarted.ok) return context.json(restarted.value);
    return sendProblem(context, { status: 409, code: 'not_restarted', message: restarted.error });
  });
  return routes;
}
