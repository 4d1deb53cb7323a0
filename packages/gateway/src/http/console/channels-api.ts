import { fail, type Result, succeed } from '@headgate/protocols';
import { z } from 'zod';
import {
  type ChannelTools,
  changeChannel,
  createChannel,
  removeChannel,
  switchChannel,
  writeChannel,
} from '../../admin/channels/change-channels.ts';
import type { ChannelBoard } from '../../admin/channels/channel-board.ts';
import { formOf, readForm } from '../../admin/channels/channel-form.ts';
import { channelText } from '../../admin/channels/channel-text.ts';
import { type ChannelSight, fittingChannels, viewChannel } from '../../admin/channels/channel-views.ts';
import { liftBlocks } from '../../admin/channels/lift-blocks.ts';
import { channelPresets } from '../../admin/channels/presets.ts';
import { type TrialTools, tryChannel, tryWish } from '../../admin/channels/try-channel.ts';
import { addCredential, removeCredential, rotateCredential } from '../../admin/credentials.ts';
import type { Actor } from '../../admin/people/actor.ts';
import { formatNanoUsd } from '../../money/money.ts';
import type { CallReports } from '../../ports/call-reports.ts';
import type { Router } from '../../route/router.ts';
import { channelHistoryApi, type HistorySources } from './channel-history-api.ts';
import {
  channelCosts,
  channelDeclaration,
  channelDraft,
  channelPage,
  channelPatch,
  channelQuery,
  channelStatusPage,
  channelSwitch,
  channelView,
  credentialDraft,
  credentialMade,
  credentialRotation,
  hoursQuery,
  liftedView,
  liftWish,
  presetPage,
  trialDraft,
  trialView,
  trialWish,
} from './contract/channels.ts';
import { pageQuery } from './contract/common.ts';
import { declarationView } from './contract/keys.ts';
import { answer, type ConsoleProblem, created, invalid, nothing, problem } from './frame/answer.ts';
import type { ConsoleApi } from './frame/console-api.ts';
import { page, readCursor } from './frame/pages.ts';
import { pieceProblem, seenBy } from './piece-problems.ts';

/** The sources of the answers. */
export interface ChannelSources extends HistorySources {
  /** Tools as of now, for whoever asks. */
  channelTools(actor: Actor): ChannelTools;
  trialTools(): TrialTools;
  channelSight(): ChannelSight & { readonly router: Pick<Router, 'status' | 'slotStatuses' | 'lift'> };
  readonly board: ChannelBoard;
  readonly calls: Pick<CallReports, 'spend'>;
}

const draftSecret = z
  .string('must be text')
  .min(1, 'must not be empty')
  .max(8_192, 'must be of 8,192 characters at the most');

const channelsTag = { access: 'operator', tag: 'Channels' } as const;

/** Channels: how they stand, and what is made of them here. */
export function channelsApi(api: ConsoleApi, sources: ChannelSources): void {
  listRoutes(api, sources);
  channelHistoryApi(api, sources);
  changeRoutes(api, sources);
  credentialRoutes(api, sources);
  textRoutes(api, sources);
  trialRoutes(api, sources);
}

function listRoutes(api: ConsoleApi, sources: ChannelSources): void {
  api.route(
    {
      method: 'get',
      path: '/channels',
      ...channelsTag,
      summary: 'Channels, by id',
      query: channelQuery,
      answer: channelPage,
    },
    async ({ query: { cursor: given, limit, ...filter } }) => {
      const cursor = readCursor(given, z.tuple([z.string()]));
      if (!cursor.ok) return cursor.error;
      const [after] = cursor.value ?? [''];
      const { items: all, counts } = await sources.board.view();
      const rest = fittingChannels(all, filter).filter(({ id }) => id > after);
      const { items, next } = page(rest.slice(0, limit + 1), limit, ({ id }) => [id]);
      return answer({ items: items.map(({ serves: _, ...item }) => item), next, counts });
    },
  );
  api.route(
    {
      ...{ method: 'get', path: '/channel-statuses', ...channelsTag },
      ...{ query: pageQuery, answer: channelStatusPage },
      summary: 'Channels as they stand now, each with its models',
    },
    async ({ query: { cursor, limit } }) => {
      const after = readCursor(cursor, z.tuple([z.string()]));
      if (!after.ok) return after.error;
      const statuses = await sources.board.statuses(limit + 1, after.value?.[0]);
      return answer(page(statuses, limit, ({ id }) => [id]));
    },
  );
  api.route(
    {
      ...{ method: 'get', path: '/channel-costs', ...channelsTag, query: hoursQuery, answer: channelCosts },
      summary: 'What calls of the last hours cost on each channel, and were charged',
    },
    async ({ query: { hours } }) => {
      const fromMs = sources.channelSight().nowMs - hours * 3_600_000;
      const spend = await sources.calls.spend('channel', { fromMs });
      const items = spend.flatMap(({ name, calls, chargeNanoUsd, costNanoUsd }) =>
        name === null
          ? []
          : [{ id: name, calls, charge: formatNanoUsd(chargeNanoUsd), cost: formatNanoUsd(costNanoUsd) }],
      );
      return answer({ items, next: null });
    },
  );
  api.route(
    { method: 'get', path: '/channels/{id}', ...channelsTag, summary: 'A channel', answer: channelView },
    async ({ actor, params }) => viewOf(sources, actor, params.id),
  );
}

function changeRoutes(api: ConsoleApi, sources: ChannelSources): void {
  api.route(
    {
      ...{ method: 'post', path: '/channels', ...channelsTag, creates: true, fresh: true },
      ...{ summary: 'Makes a channel', rawBody: channelDraft, answer: channelView },
    },
    async ({ actor, body }) => {
      const draft = readFrame(draftFrame, body);
      if (!draft.ok) return invalid(draft.error);
      const { id, secret = null, ...form } = draft.value;
      const made = await createChannel(sources.channelTools(actor), { id, secret, form });
      return made.ok ? viewOf(sources, actor, made.value, created) : pieceProblem(made.error);
    },
  );
  api.route(
    {
      ...{ method: 'patch', path: '/channels/{id}', ...channelsTag, fresh: true },
      ...{ summary: 'Replaces members of a channel', rawBody: channelPatch, answer: channelView },
    },
    async ({ actor, params, body, ifMatch }) => {
      if (!isRecord(body)) return invalid([{ field: '', message: 'must be an object of members' }]);
      const changed = await changeChannel(sources.channelTools(actor), params.id, body, seenBy(ifMatch));
      return changed.ok ? viewOf(sources, actor, changed.value) : pieceProblem(changed.error);
    },
  );
  api.route(
    {
      ...{ method: 'post', path: '/channels/{id}/switch', ...channelsTag },
      ...{
        summary: 'Turns a channel on, off, or lets what runs there end',
        body: channelSwitch,
        answer: channelView,
      },
    },
    async ({ actor, params, body }) => {
      const changed = await switchChannel(sources.channelTools(actor), params.id, body.to);
      return changed.ok ? viewOf(sources, actor, changed.value) : pieceProblem(changed.error);
    },
  );
  api.route(
    {
      ...{ method: 'delete', path: '/channels/{id}', ...channelsTag, fresh: true, answer: null },
      summary: 'Takes a channel away, with the secrets that the store keeps for it',
    },
    async ({ actor, params, ifMatch }) => {
      const removed = await removeChannel(sources.channelTools(actor), params.id, seenBy(ifMatch));
      return removed.ok ? nothing() : pieceProblem(removed.error);
    },
  );
  api.route(
    {
      ...{ method: 'post', path: '/channels/{id}/lift', ...channelsTag, body: liftWish, answer: liftedView },
      summary: 'Lets calls to it again, whatever the router has learned against it',
    },
    async ({ actor, params, body: { model, credential } }) => {
      const wish = { model: model ?? null, credential: credential ?? null };
      const tools = { ...sources.channelTools(actor), ...sources.channelSight() };
      const lifted = await liftBlocks(tools, params.id, wish);
      sources.board.changed();
      return lifted.ok ? answer({ lifted: lifted.value }) : problem('not_found', lifted.error);
    },
  );
}

function textRoutes(api: ConsoleApi, sources: ChannelSources): void {
  const text = { ...channelsTag, path: '/channels/{id}/declaration' } as const;
  api.route(
    {
      ...text,
      method: 'get',
      answer: declarationView,
      summary: 'A channel as a configuration file declares it',
    },
    async ({ actor, params: { id } }) => {
      const stored = await sources.channelTools(actor).store.configuration.load();
      const channel = stored.channels.find((each) => each.id === id);
      if (channel === undefined) return notThere(id);
      return answer({ yaml: channelText(channel) }, { version: formOf(channel) });
    },
  );
  api.route(
    {
      ...{ ...text, method: 'put', fresh: true, body: channelDeclaration, answer: channelView },
      summary: 'Puts what the text declares in the place of a channel, or makes it',
    },
    async ({ actor, params: { id }, body: { yaml }, ifMatch }) => {
      const written = await writeChannel(sources.channelTools(actor), id, yaml, seenBy(ifMatch));
      return written.ok ? viewOf(sources, actor, written.value) : pieceProblem(written.error);
    },
  );
}

function credentialRoutes(api: ConsoleApi, sources: ChannelSources): void {
  api.route(
    {
      ...{ method: 'post', path: '/channels/{id}/credentials', ...channelsTag, creates: true, fresh: true },
      ...{ summary: 'Keeps a secret for a channel, sealed', body: credentialDraft, answer: credentialMade },
    },
    async ({ actor, params, body: { secret, name } }) => {
      const tools = sources.channelTools(actor);
      const added = await addCredential(tools, params.id, name ?? null, secret);
      if (!added.ok) return invalid([{ field: 'secret', message: added.error }]);
      await tools.bringIn();
      return created({ id: added.value });
    },
  );
  api.route(
    {
      ...{ method: 'put', path: '/credentials/{id}', ...channelsTag, fresh: true },
      ...{
        summary: 'Puts another secret in the place of one',
        body: credentialRotation,
        answer: credentialMade,
      },
    },
    async ({ actor, params, body: { secret } }) => {
      const tools = sources.channelTools(actor);
      const rotated = await rotateCredential(tools, params.id, secret);
      if (!rotated.ok) return problem('not_found', rotated.error);
      await tools.bringIn();
      return answer({ id: rotated.value.id });
    },
  );
  api.route(
    {
      ...{ method: 'delete', path: '/credentials/{id}', ...channelsTag, fresh: true, answer: null },
      summary: 'Takes a secret away, for good',
    },
    async ({ actor, params }) => {
      const tools = sources.channelTools(actor);
      const removed = await removeCredential(tools, params.id);
      if (!removed.ok) return problem('not_found', removed.error);
      await tools.bringIn();
      return nothing();
    },
  );
}

function trialRoutes(api: ConsoleApi, sources: ChannelSources): void {
  api.route(
    {
      method: 'get',
      path: '/channel-presets',
      ...channelsTag,
      summary: 'Providers to make a channel of',
      answer: presetPage,
    },
    async ({ actor }) => {
      const presets = await channelPresets(sources.channelTools(actor).catalogue);
      return answer({ items: presets, next: null });
    },
  );
  api.route(
    {
      ...{ method: 'post', path: '/channel-trials', ...channelsTag, fresh: true },
      ...{ summary: 'Tries a channel before it is made', rawBody: trialDraft, answer: trialView },
    },
    async ({ actor, body }) => {
      const frame = readFrame(trialFrame, body);
      if (!frame.ok) return invalid(frame.error);
      const { channel, secret = null, model = null } = frame.value;
      const { store, catalogue, nowMs } = sources.channelTools(actor);
      const stored = await store.configuration.load();
      const form = { models: [], ...channel };
      const wish = readForm('trial', form, { stored, catalogue, nowMs });
      if (!wish.ok)
        return invalid(
          wish.error.map((each) => ({ ...each, field: `channel.${each.field}`.replace(/\.$/, '') })),
        );
      return answer(await tryWish(wish.value, secret, { model }, sources.trialTools()));
    },
  );
  api.route(
    {
      ...{ method: 'post', path: '/channels/{id}/trial', ...channelsTag },
      ...{ summary: 'Tries a channel as it is', body: trialWish, answer: trialView },
    },
    async ({ params, body: { model } }) => {
      const channel = sources.channelSight().catalogue.channels.get(params.id);
      if (channel === undefined) return notThere(params.id);
      return answer(await tryChannel(channel, { model: model ?? null }, sources.trialTools()));
    },
  );
}

async function viewOf(
  sources: ChannelSources,
  actor: Actor,
  id: string,
  say: typeof answer | typeof created = answer,
) {
  const stored = await sources.channelTools(actor).store.configuration.load();
  const view = viewChannel(id, sources.channelSight(), stored);
  return view === null ? notThere(id) : say(view, { version: view.written });
}

const draftFrame = z.looseObject(
  { id: z.string('must be text'), secret: draftSecret.optional() },
  'must be an object',
);
const trialFrame = z.strictObject({
  channel: z.record(z.string(), z.unknown(), 'must be an object of members'),
  secret: draftSecret.optional(),
  model: z.string('must be text').max(200, 'must be of 200 characters at the most').optional(),
});

/** The frame of a body, whose channel the use case reads itself: it says better what is wrong with that. */
function readFrame<Frame>(
  frame: z.ZodType<Frame>,
  body: unknown,
): Result<Frame, readonly { readonly field: string; readonly message: string }[]> {
  const read = frame.safeParse(body);
  if (read.success) return succeed(read.data);
  return fail(read.error.issues.map(({ path, message }) => ({ field: path.join('.'), message })));
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function notThere(id: string): ConsoleProblem {
  return problem('not_found', `There is no channel "${id}".`);
}
