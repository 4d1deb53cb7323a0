import { ChannelBoard } from '../../admin/channels/channel-board.ts';
import type { ConfigurationService } from '../../admin/configuration-service.ts';
import type { Deployment } from '../../admin/deployment.ts';
import { explainRoute } from '../../admin/explain-route.ts';
import { exportInTurns } from '../../admin/export-configuration.ts';
import { keyFinder } from '../../admin/key-finder.ts';
import { keyHashes } from '../../admin/keys.ts';
import type { LiveHub } from '../../admin/live/live-hub.ts';
import type { OwnerTokens } from '../../admin/owner-files.ts';
import { type Actor, scopeOf } from '../../admin/people/actor.ts';
import { openStronger, type SignInSettings } from '../../admin/people/open-stronger.ts';
import { PersonChanges } from '../../admin/people/person-changes.ts';
import { rememberedConfiguration } from '../../admin/remembered-configuration.ts';
import type { Restart } from '../../admin/serving.ts';
import type { RunningSettings } from '../../admin/settings/running-settings.ts';
import { webhookStatuses } from '../../admin/webhooks/webhook-status.ts';
import type { Webhook } from '../../catalogue/webhooks.ts';
import type { Environment, Settings } from '../../config.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Holds } from '../../ports/holds.ts';
import type { Store } from '../../ports/store.ts';
import type { Upstream } from '../../ports/upstream.ts';
import type { AskWeb } from '../../ports/web.ts';
import type { Router } from '../../route/router.ts';
import type { StatusKeeper } from '../../status/keeper.ts';
import type { ChannelSources } from './channels-api.ts';
import { sessionCookie } from './frame/session-cookie.ts';
import type { ModelSources } from './models-api.ts';
import type { ApiSources } from './operations-api.ts';
import type { WebhookSources } from './webhooks-api.ts';

/** The parts of a gateway that the console tells of. */
export interface ConsoleParts {
  readonly store: Omit<Store, 'close' | 'ledger'>;
  readonly configuration: Pick<
    ConfigurationService,
    'catalogue' | 'catalogueFiles' | 'peppers' | 'poll' | 'problems' | 'selfConfiguration' | 'sketch'
  >;
  readonly upstream: Upstream;
  readonly events: {
    readonly webhooks: readonly Webhook[];
    postTest(webhook: string): Promise<string | null> | null;
    nextNews(withinMs: number): Promise<void>;
  };
  readonly live: LiveHub;
  readonly status: {
    readonly keeper: Pick<StatusKeeper, 'changed' | 'subjects'>;
    deployment(listening: PortOrigins): Deployment;
  };
  readonly restart: Restart;
  readonly router: Router;
  readonly holds: Pick<Holds, 'idle'>;
  readonly clock: Clock;
  readonly settings: Pick<
    Settings,
    | 'config'
    | 'consoleOrigin'
    | 'dataDir'
    | 'deploymentName'
    | 'firstContentTimeoutMs'
    | 'language'
    | 'trustedProxies'
  >;
  readonly runningSettings: RunningSettings;
  readonly environment: Environment;
  readonly signIn: SignInSettings;
  readonly askWeb: AskWeb;
  readonly log: { readonly logger: { warn(message: string, fields: { readonly reason: string }): void } };
  readonly tokens: OwnerTokens;
}

/** The places of both ports, once they are known. */
export interface PortOrigins {
  readonly apiOrigin: string;
  readonly consoleOrigin: string;
}

export function consoleSources(parts: ConsoleParts, origins: PortOrigins): ApiSources {
  const { store, configuration, events, live, restart, router, clock, settings, tokens, status } = parts;
  const { holds } = parts;
  const { catalogue, peppers } = configuration;
  const keyOf = keyFinder(catalogue);
  return {
    ...channelSources(parts),
    ...signInSources(parts, origins),
    cookie: sessionCookie(settings.consoleOrigin, tokens.operator),
    deployment: () =>
      deploymentView(status.deployment(origins), configuration.selfConfiguration.kind === 'demo'),
    audit: store.audit,
    accounts: (actor) => ({ store, actor, nowMs: clock.now() }),
    keys: {
      ...{ store, catalogue, bringIn: bringingIn(configuration) },
      tools: (actor) => ({
        ...{ store, peppers, actor, nowMs: clock.now() },
        ...{ scope: scopeOf(actor, 'member'), unbounded: scopeOf(actor, 'admin') },
      }),
    },
    groups: (actor) => ({ store, actor, nowMs: clock.now() }),
    rates: { keys: store.keys, idle: (lease) => holds.idle(lease) },
    events: store.events,
    nextNews: events.nextNews,
    eventTools: (actor) => ({ store, actor, nowMs: clock.now() }),
    postTest: events.postTest,
    webhooks: async () => webhookStatuses(events.webhooks, await store.events.standings(), clock.now()),
    explainRoute: (question) =>
      explainRoute(question, { catalogue: catalogue.current, router, nowMs: clock.now() }),
    findEntry: store.findEntry,
    callTools: (scope) => ({
      store,
      reader: { isOperator: scope === 'all', nameOf: (id) => keyOf(id)?.name ?? id },
    }),
    overview: (scope) => ({ store, nowMs: clock.now(), isOperator: scope === 'all', keyOf }),
    spend: (scope) => ({ store, nowMs: clock.now(), isOperator: scope === 'all', keyOf }),
    live,
    restart,
    statusTools: (actor) => ({
      ...{ store, actor, nowMs: clock.now(), status: store.status },
      subjects: status.keeper.subjects,
      changed: () => status.keeper.changed(),
    }),
  };
}

function signInSources(parts: ConsoleParts, listening: PortOrigins) {
  const { settings, tokens, log, runningSettings, environment, configuration, store, clock } = parts;
  const stronger = openStronger({ ...parts, operatorToken: tokens.operator, listening });
  return {
    people: stronger,
    stronger,
    changes: new PersonChanges(stronger),
    language: () => settings.language,
    onProviderProblem: (problem: string) =>
      log.logger.warn('nobody was signed in by the provider', { reason: problem }),
    runningSettings,
    settingTools: (actor: Actor) => ({
      ...{ store, actor, environment, declared: runningSettings.declared, nowMs: clock.now() },
    }),
    bringInSettings: () => runningSettings.refresh(store.configuration),
    settingsFile: settings.config,
    exportedConfiguration: async () => {
      const { fingerprints } = keyHashes(configuration.peppers);
      return exportInTurns(await store.configuration.load(), fingerprints, clock.now());
    },
  };
}

function channelSources({
  store,
  configuration,
  settings,
  upstream,
  router,
  clock,
  live,
}: ConsoleParts): ChannelSources & ModelSources & Pick<WebhookSources, 'webhookTools'> {
  const { catalogueFiles: catalogue } = configuration;
  const { dataDir, firstContentTimeoutMs: timeoutMs } = settings;
  const bringIn = bringingIn(configuration);
  const channelSight = () => ({
    ...{ catalogue: configuration.catalogue.current, problems: configuration.problems, router },
    nowMs: clock.now(),
  });
  const known = {
    audit: store.audit,
    configuration: rememberedConfiguration(store.configuration, () => configuration.catalogue.current),
  };
  const board = new ChannelBoard(channelSight);
  live.tellStandings((channelIds) => board.standings(channelIds));
  return {
    ...{ calls: store.calls, channelHistory: store.channelHistory, board, channelSight },
    channelTools: (actor) => ({ store: known, actor, catalogue, dataDir, bringIn, nowMs: clock.now() }),
    webhookTools: (actor) => ({ store: known, actor, dataDir, bringIn, nowMs: clock.now() }),
    modelTools: (actor) => ({
      ...{ store: known, actor, catalogue, bringIn, snapshot: configuration.catalogue.current },
      nowMs: clock.now(),
    }),
    trialTools: () => ({
      ...{ upstream, catalogue, timeoutMs, sketch: configuration.sketch },
      ...{ models: configuration.catalogue.current.models, nowMs: clock.now() },
    }),
  };
}

/** Brings into force what the console has just changed. */
function bringingIn(configuration: ConsoleParts['configuration']): () => Promise<void> {
  return async () => {
    // A look that was under way began before the change.
    await configuration.poll();
    await configuration.poll();
  };
}

/** The console's word for the deployment. */
function deploymentView({ currency, siblings, ...deployment }: Deployment, isSimulated: boolean) {
  return {
    isSimulated,
    ...{ ...deployment, currency: currency.code, currencyPerUsd: currency.perUsd },
    siblings: siblings.map(({ name, consoleOrigin, language, region }) => ({
      ...{ name, url: consoleOrigin, language, region },
    })),
  };
}
