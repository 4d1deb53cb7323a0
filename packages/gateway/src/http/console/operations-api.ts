import type { Restart } from '../../admin/serving.ts';
import { type AccountSources, accountsApi } from './accounts-api.ts';
import { type AuditSources, auditApi } from './audit-api.ts';
import { type CallSources, callsApi } from './calls-api.ts';
import { type ChannelSources, channelsApi } from './channels-api.ts';
import { type ConfigurationSources, configurationApi } from './configuration-api.ts';
import { restartedView } from './contract/operations.ts';
import { type EventSources, eventsApi } from './events-api.ts';
import { answer, problem } from './frame/answer.ts';
import type { ConsoleApi } from './frame/console-api.ts';
import type { GateOptions } from './frame/gate.ts';
import { type GroupSources, groupsApi } from './groups-api.ts';
import { type InvitationSources, invitationsApi } from './invitations-api.ts';
import { type KeySources, keysApi } from './keys-api.ts';
import { type LiveSources, liveApi } from './live-api.ts';
import { type ModelSources, modelsApi } from './models-api.ts';
import { type OverviewSources, overviewApi } from './overview-api.ts';
import { type PeopleSources, peopleApi } from './people-api.ts';
import { type RateSources, ratesApi } from './rates-api.ts';
import { type RouteSources, routeApi } from './route-api.ts';
import { type SecuritySources, securityApi } from './security-api.ts';
import { type SessionSources, sessionApi } from './session-api.ts';
import { type SettingsSources, settingsApi } from './settings-api.ts';
import { type SignInSources, signInApi } from './sign-in-api.ts';
import { type SpendSources, spendApi } from './spend-api.ts';
import { type StatusSources, statusApi } from './status-api.ts';
import { type WebhookSources, webhooksApi } from './webhooks-api.ts';

/** The sources of all answers. */
export interface ApiSources
  extends RouteSources,
    EventSources,
    AccountSources,
    ChannelSources,
    ModelSources,
    SessionSources,
    AuditSources,
    CallSources,
    OverviewSources,
    SpendSources,
    StatusSources,
    KeySources,
    GroupSources,
    RateSources,
    SignInSources,
    SecuritySources,
    InvitationSources,
    PeopleSources,
    SettingsSources,
    WebhookSources,
    ConfigurationSources,
    LiveSources {
  readonly restart: Restart;
}

/** All routes of the console, a line for each noun. */
export function operationsApi(
  api: ConsoleApi,
  sources: ApiSources,
  findPerson: GateOptions['findPerson'],
): void {
  sessionApi(api, sources);
  signInApi(api, sources);
  securityApi(api, sources);
  invitationsApi(api, sources);
  peopleApi(api, sources);
  settingsApi(api, sources);
  configurationApi(api, sources);
  accountsApi(api, sources);
  auditApi(api, sources);
  keysApi(api, sources);
  groupsApi(api, sources);
  ratesApi(api, sources);
  eventsApi(api, sources);
  webhooksApi(api, sources);
  routeApi(api, sources);
  callsApi(api, sources);
  overviewApi(api, sources);
  spendApi(api, sources);
  liveApi(api, sources, findPerson);
  channelsApi(api, sources);
  modelsApi(api, sources);
  statusApi(api, sources);
  restartApi(api, sources);
}

function restartApi(api: ConsoleApi, { restart }: Pick<ApiSources, 'restart'>): void {
  api.route(
    {
      ...{ method: 'post', path: '/restart', access: 'operator', tag: 'Gateway', answer: restartedView },
      summary: 'Puts a new process in the place of the one that serves',
    },
    async () => {
      const restarted = await restart();
      return restarted.ok ? answer(restarted.value) : problem('not_restarted', restarted.error);
    },
  );
}
