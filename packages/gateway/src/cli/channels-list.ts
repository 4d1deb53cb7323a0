import { matchesGlob } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import {
  type ChannelState,
  type ChannelStatus,
  channelStates,
  channelStatuses,
} from '../admin/channel-status.ts';
import { plannerOptions } from '../admin/explain-route.ts';
import { credentialHasher } from '../admin/owner-files.ts';
import type { Channel } from '../catalogue/catalogue.ts';
import { didYouMean } from '../config/suggestion.ts';
import { Router } from '../route/router.ts';
import { type CommandContext, command, type ExitReason, printFailure, printResult } from './command.ts';
import { askGateway } from './running-gateway.ts';
import { cut, dim, right, statusText, tableWithNotes, widthUsual } from './table.ts';
import { builtIn, type Workspace, withWorkspace, workspaceCatalogue } from './workspace.ts';

const sortings = {
  state: (a: Row, b: Row) => channelStates.indexOf(a.status.state) - channelStates.indexOf(b.status.state),
  name: () => 0,
  success: (a: Row, b: Row) => (a.status.success ?? 2) - (b.status.success ?? 2),
  ttft: (a: Row, b: Row) => (b.status.ttftMs ?? -1) - (a.status.ttftMs ?? -1),
  'in-flight': (a: Row, b: Row) => b.status.inFlight - a.status.inFlight,
  priority: (a: Row, b: Row) => a.channel.priority - b.channel.priority,
} as const;

export const channelsList = command({
  name: 'channels list',
  usage: '[GLOB…]',
  positionals: { min: 0, max: 1000 },
  summary: 'List the channels and how they stand',
  options: {
    state: {
      placeholder: 'NAMES',
      help: `Only those that are ${channelStates.join(', ')}; several with commas`,
    },
    model: { placeholder: 'GLOB', help: 'Only those that serve such a model' },
    sort: { placeholder: 'BY', help: `${Object.keys(sortings).join(', ')} (state: trouble first)` },
    watch: { placeholder: null, help: 'Look again every 2 seconds, until stopped' },
  },
  run: listChannels,
});

interface Row {
  readonly channel: Channel;
  readonly status: ChannelStatus;
  /** Why it lacks something, by the configuration; null when it does not. */
  readonly problem: string | null;
}

interface View {
  readonly rows: readonly Row[];
  /** How many there are, shown or not. */
  readonly count: number;
  /** Says whose view it is. */
  readonly source: string;
  readonly nowMs: number;
}

const watchMs = 2000;

function listChannels(context: CommandContext): Promise<ExitReason> {
  const { options, output } = context;
  const wrong = wrongOption(options);
  if (wrong !== null) {
    printFailure(output, [wrong]);
    return Promise.resolve('usage');
  }
  return withWorkspace(context, async (workspace) => {
    if (options['watch'] === undefined) {
      showChannels(await look(workspace, context), context);
      return 'ok';
    }
    const stop = context.stopping();
    do {
      const view = await look(workspace, context);
      if (output.color) output.write('\u001b[H\u001b[2J');
      showChannels(view, context);
      await delay(watchMs, undefined, { signal: stop }).catch(() => undefined);
    } while (!stop.aborted);
    return 'ok';
  });
}

function showChannels(view: View, context: CommandContext): void {
  const shown = { channels: view.rows.map(publicRow), seen: view.source };
  printResult(context.output, shown, viewText(view, context));
}

function wrongOption({ state, sort = 'state' }: CommandContext['options']): string | null {
  const unknown = (state?.split(',') ?? []).find((name) => !channelStates.some((each) => each === name));
  if (unknown !== undefined)
    return `--state: there is no "${unknown}"${didYouMean(unknown, channelStates)}; it is one of ${channelStates.join(', ')}`;
  if (sort in sortings) return null;
  return `--sort: there is no "${sort}"${didYouMean(sort, Object.keys(sortings))}; it is one of ${Object.keys(sortings).join(', ')}`;
}

/** The running gateway says how channels stand; where none runs, what the last one has saved does. */
async function look(workspace: Workspace, { options, positionals }: CommandContext): Promise<View> {
  const { settings, clock } = workspace;
  const { catalogue, problems } = await workspaceCatalogue(workspace);
  const nowMs = clock.now();
  const live = await liveStatuses(settings.dataDir);
  const statuses = live ?? channelStatuses(catalogue, await savedRouter(workspace, nowMs), nowMs);
  const byId = new Map(statuses.map((status) => [status.id, status]));
  const fits = (row: Row) =>
    (positionals.length === 0 || positionals.some((glob) => matchesGlob(row.channel.id, glob))) &&
    (options['state'] === undefined || options['state'].split(',').includes(row.status.state)) &&
    (options['model'] === undefined || servesModel(row.status, options['model']));
  const rows = [...catalogue.channels.values()].flatMap((channel) => {
    const found = problems.filter(({ subject }) => subject === channel.id).map(({ detail }) => detail);
    const status = byId.get(channel.id);
    return status === undefined
      ? []
      : [{ channel, status, problem: found.length === 0 ? null : found.join('; ') }];
  });
  const by = sortings[(options['sort'] ?? 'state') as keyof typeof sortings]; // Looked at in wrongOption.
  return {
    rows: rows.filter(fits).toSorted((a, b) => by(a, b) || (a.channel.id < b.channel.id ? -1 : 1)),
    count: rows.length,
    source: live === null ? 'saved' : 'live',
    nowMs,
  };
}

/** All pages of how channels stand in the running gateway; null where none runs. */
async function liveStatuses(dataDir: string): Promise<readonly ChannelStatus[] | null> {
  const statuses: ChannelStatus[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const path: string = `/api/v1/channel-statuses?limit=200${cursor === '' ? '' : `&cursor=${cursor}`}`;
    const asked = await askGateway(dataDir, 'GET', path);
    if (!asked.ok) return null;
    // The answer of the console's own route.
    const { items, next } = asked.value as {
      readonly items: readonly ChannelStatus[];
      readonly next: string | null;
    };
    statuses.push(...items);
    cursor = next;
  }
  return statuses;
}

/** A pattern for paths ends at a slash, which names of models may have. */
function servesModel({ models }: ChannelStatus, glob: string): boolean {
  const flat = (name: string) => name.replaceAll('/', ':');
  return models.some(({ model }) => matchesGlob(flat(model), flat(glob)));
}

async function savedRouter({ settings, store, peppers }: Workspace, nowMs: number): Promise<Router> {
  const router = new Router({ ...plannerOptions(settings, credentialHasher(peppers)), uniform: () => 0.5 });
  router.restore(await store.routerStates.load(), nowMs);
  return router;
}

/** All of a channel but its secrets. */
function publicRow({ channel, status, problem }: Row): object {
  const { id, alias, priority, enabled, drain, maxConcurrency, hangUp, simulated } = channel;
  const { state, sinceMs, lastFailure, success, ttftMs, inFlight, models } = status;
  return {
    ...{ id, alias, provider: channel.provider.id, baseUrl: channel.baseUrl.replace(builtIn, '') },
    ...{ priority, enabled, drain, maxConcurrency, hangUp, simulated },
    credentials: channel.credentials.map((credential) => credential.id),
    ...{ state, sinceMs, lastFailure, success, ttftMs, inFlight, problem },
    models: models.length,
    targets: models,
  };
}

/** All columns of the table but the names. */
const widthOfOthers = 54;
const nameWidthMin = 16;

function viewText({ rows, count, source, nowMs }: View, { output }: CommandContext): string {
  if (count === 0) return 'There are no channels yet.';
  if (rows.length === 0) return `None of ${count} channels is such a one.`;
  const width = output.columns ?? widthUsual;
  const { color } = output;
  const nameWidth = Math.max(nameWidthMin, width - widthOfOthers);
  const cells = rows.map(({ channel, status }) => [
    statusText(status.state, moods[status.state], color),
    cut(channel.id, nameWidth),
    modelsText(status),
    status.success === null ? '–' : `${Math.floor(status.success * 100)}%`,
    status.ttftMs === null ? '–' : `${(status.ttftMs / 1000).toFixed(2)}s`,
    String(status.inFlight),
    status.sinceMs === null ? '–' : ageText(nowMs - status.sinceMs),
  ]);
  const titles = ['state', 'channel', ...['models', 'ok', 'ttft', 'now', 'since'].map(right)];
  const notes = rows.map((row) => {
    const note = noteOf(row, nowMs);
    return note === null ? null : cut(note, width - 2);
  });
  const summary = cut(summaryText(rows, count, source), width);
  return [tableWithNotes(titles, cells, notes, output), '', color ? dim(summary) : summary].join('\n');
}

const moods = {
  up: 'good',
  degraded: 'idle',
  draining: 'idle',
  off: 'idle',
  down: 'bad',
} as const satisfies Record<ChannelState, string>;

function modelsText({ models }: ChannelStatus): string {
  const serving = models.filter(({ state }) => state === 'serving').length;
  return serving === models.length ? String(serving) : `${serving}/${models.length}`;
}

/** Under a channel that is not as it should be: what is missing, or what went wrong last. */
function noteOf({ status, problem }: Row, nowMs: number): string | null {
  if (problem !== null) return problem;
  if (status.state === 'up' || status.state === 'off') return null;
  if (status.models.length === 0) return 'it serves no model';
  const out = status.models.find(({ state }) => state !== 'serving');
  if (status.lastFailure === null) return out === undefined ? null : `${out.model}: ${stateWords[out.state]}`;
  const { atMs, words, model } = status.lastFailure;
  return `${model}, ${ageText(nowMs - atMs)} ago: ${words}`;
}

const stateWords = {
  serving: 'it serves',
  limited: 'rate limited',
  refused: 'its credential was refused',
  missing: 'its upstream does not know the model',
  ejected: 'out of service after failures',
  trial: 'on trial after failures',
} as const satisfies Record<ChannelStatus['models'][number]['state'], string>;

function summaryText(rows: readonly Row[], count: number, source: string): string {
  const counts = channelStates.flatMap((state) => {
    const { length } = rows.filter(({ status }) => status.state === state);
    return length === 0 ? [] : [`${length} ${state}`];
  });
  const shown = rows.length === count ? `${count}` : `${rows.length} of ${count}`;
  const whose = source === 'live' ? '' : ' No gateway runs here: this is what the last one saved.';
  return `${shown} ${count === 1 ? 'channel' : 'channels'}: ${counts.join(', ')}.${whose}`;
}

function ageText(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 100) return `${seconds}s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 100) return `${minutes}m`;
  const hours = Math.round(minutes / 60);
  return hours < 48 ? `${hours}h` : `${Math.round(hours / 24)}d`;
}
