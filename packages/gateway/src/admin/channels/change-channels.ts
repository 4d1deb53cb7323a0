import { fail, type Result, succeed } from '@headgate/protocols';
import { identifier } from '../../catalogue/identifiers.ts';
import { channelShape } from '../../config/channel-shape.ts';
import { didYouMean } from '../../config/suggestion.ts';
import type { AuditMembers } from '../../ports/audit.ts';
import type {
  ChannelWish,
  ConfigurationStore,
  StoredConfiguration,
} from '../../ports/configuration-store.ts';
import { type AuditTools, noting } from '../audit.ts';
import type { CatalogueFiles } from '../catalogue-files.ts';
import type { SwitchPosition } from '../channel-status.ts';
import { sealCredential } from '../credentials.ts';
import {
  attemptPiece,
  declaredIn,
  type FieldMistake,
  type HasSeen,
  invalid,
  type PieceRefusal,
  type PieceTools,
} from '../piecewise.ts';
import { formOf, readForm } from './channel-form.ts';
import { readChannelText } from './channel-text.ts';

export interface ChannelTools extends PieceTools {
  readonly catalogue: CatalogueFiles;
}

type StoredChannel = StoredConfiguration['channels'][number];

/** Makes a channel of the console's; `secret` is sealed in the store, and said nowhere again. */
export async function createChannel(
  tools: ChannelTools,
  { id, secret, form }: { readonly id: string; readonly secret: string | null; readonly form: object },
): Promise<Result<string, PieceRefusal>> {
  const named = identifier.safeParse(id);
  if (!named.success)
    return invalid([{ field: 'id', message: named.error.issues[0]?.message ?? 'is not valid' }]);
  return attemptPiece(tools, async (stored) => {
    if (stored.channels.some((channel) => channel.id === id))
      return fail({ kind: 'conflict', field: 'id', message: `there is a channel "${id}" already` });
    const wish = readForm(id, form, { stored, catalogue: tools.catalogue, nowMs: tools.nowMs });
    if (!wish.ok) return invalid(wish.error);
    // A secret that cannot be sealed is said before anything is made.
    const sealed = secret === null ? succeed(null) : sealCredential(stored, tools.dataDir, id, secret);
    if (!sealed.ok) return invalid([{ field: 'secret', message: sealed.error }]);
    const configuration = noted(tools, 'create', wish.value.channel, null, formOf(wish.value.channel));
    if (!(await configuration.putChannel(wish.value, stored.revision, tools.nowMs))) return succeed(null);
    if (sealed.value !== null)
      await tools.store.configuration.addCredential({ ...sealed.value, name: sealed.value.id }, tools.nowMs);
    return succeed(id);
  });
}

/** Replaces members of a channel of the console's; null takes one back to what holds where nothing is said. */
export async function changeChannel(
  tools: ChannelTools,
  id: string,
  patch: Readonly<Record<string, unknown>>,
  hasSeen: HasSeen,
): Promise<Result<string, PieceRefusal>> {
  return attemptPiece(tools, async (stored) => {
    const found = findOwn(stored, id, hasSeen);
    if (!found.ok) return found;
    const before = formOf(found.value);
    if ('provider' in patch && patch['provider'] !== found.value.providerId) return invalid([otherProvider]);
    const wish = readForm(id, patched(before, patch), {
      stored,
      catalogue: tools.catalogue,
      nowMs: tools.nowMs,
    });
    if (!wish.ok) return invalid(wish.error);
    const configuration = noted(tools, 'change', wish.value.channel, before, formOf(wish.value.channel));
    const isPut = await configuration.putChannel(wish.value, stored.revision, tools.nowMs);
    return succeed(isPut ? id : null);
  });
}

/** Puts what a text says in the place of all that is written of a channel; makes it where there is none. */
export async function writeChannel(
  tools: ChannelTools,
  id: string,
  text: string,
  hasSeen: HasSeen,
): Promise<Result<string, PieceRefusal>> {
  const form = readChannelText(id, text);
  if (!form.ok) return invalid(form.error);
  const { channels } = await tools.store.configuration.load();
  const unwritten = Object.fromEntries(Object.keys(channelShape.shape).map((name) => [name, null]));
  const written = channels.some((channel) => channel.id === id)
    ? await changeChannel(tools, id, { ...unwritten, ...form.value }, hasSeen)
    : await createChannel(tools, { id, secret: null, form: form.value });
  if (written.ok || written.error.kind !== 'invalid') return written;
  // Whoever sent a text has no field for each member.
  return invalid(
    written.error.mistakes.map(({ field, message }) => ({
      field: 'yaml',
      message: `${field} ${message}`.trim(),
    })),
  );
}

const otherProvider: FieldMistake = {
  field: 'provider',
  message: 'stays as it is, for its secret must not be sent to another; make a channel of the other provider',
};

/** Turns a channel on or off, or lets the calls that run there come to their end. */
export function switchChannel(
  tools: ChannelTools,
  id: string,
  position: SwitchPosition,
): Promise<Result<string, PieceRefusal>> {
  const members = { enabled: position !== 'off', drain: position === 'draining' };
  return changeChannel(tools, id, members, () => true);
}

/** Takes a channel of the console's away, with the secrets that the store keeps for it. */
export async function removeChannel(
  tools: ChannelTools,
  id: string,
  hasSeen: HasSeen,
): Promise<Result<string, PieceRefusal>> {
  return attemptPiece(tools, async (stored) => {
    const found = findOwn(stored, id, hasSeen);
    if (!found.ok) return found;
    const configuration = noted(tools, 'remove', found.value, formOf(found.value), null);
    const isRemoved = await configuration.removeChannel(id, stored.revision);
    return succeed(isRemoved ? id : null);
  });
}

/** A member that a form leaves out holds as usual. */
function patched(form: object, patch: Readonly<Record<string, unknown>>): object {
  const all = { ...form, ...patch };
  // A file may say either; a change from one to the other leaves the old one behind.
  const [one, several] = ['credential', 'credentials'].map((name) => patch[name] ?? null);
  const replaced = one !== null ? 'credentials' : several !== null ? 'credential' : null;
  return Object.fromEntries(
    Object.entries(all).filter(([name, value]) => value !== null && name !== replaced),
  );
}

/** Finds a channel, and says why it is not to be changed here where it is not. */
function findOwn(
  { channels }: StoredConfiguration,
  id: string,
  hasSeen: HasSeen,
): Result<StoredChannel, PieceRefusal> {
  const found = channels.find((channel) => channel.id === id);
  const ids = channels.map((channel) => channel.id);
  if (found === undefined)
    return fail({ kind: 'unknown', message: `there is no channel "${id}"${didYouMean(id, ids)}` });
  if (found.source !== 'console') {
    const where = declaredIn(found, `channels.${id}`);
    return fail({ kind: 'conflict', field: 'id', message: `the channel "${id}" ${where}` });
  }
  return hasSeen(formOf(found)) ? succeed(found) : fail({ kind: 'stale' });
}

/** The configuration, for one change that is noted. */
function noted(
  tools: AuditTools,
  verb: string,
  { id, alias }: ChannelWish['channel'],
  before: object | null,
  after: object | null,
): ConfigurationStore {
  const [was, is] = [before, after].map((form) => (form === null ? null : shown(form)));
  const target = { kind: 'channel', id, name: alias } as const;
  const sides = { before: was ?? null, after: is ?? null };
  return noting(tools, { action: `channel.${verb}`, target, accountId: null, ...sides }).configuration;
}

/** Values of headers may be worth hiding: their names are enough to see who changed them. */
function shown(form: object): AuditMembers {
  const members: Record<string, unknown> = { ...form };
  const { headers } = members;
  if (typeof headers === 'object' && headers !== null) members['headers'] = Object.keys(headers);
  return members;
}
