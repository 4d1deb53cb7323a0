import { addCredential, removeCredential, rotateCredential } from '../admin/credentials.ts';
import { commandLine } from '../admin/people/actor.ts';
import type { BuiltCatalogue } from '../catalogue/build.ts';
import { describeSource, type SealedSecret, type SecretSource } from '../catalogue/secret-source.ts';
import type { StoredCredential } from '../ports/configuration-store.ts';
import {
  type Command,
  type CommandContext,
  command,
  type ExitReason,
  printFailure,
  printResult,
} from './command.ts';
import { statusText, tableText } from './table.ts';
import { type Workspace, withWorkspace, workspaceCatalogue } from './workspace.ts';

export const credentialsCommands: readonly Command[] = [
  command({
    name: 'credentials list',
    summary: 'List the credentials of channels: where each is kept, and whether it is there',
    run: list,
  }),
  command({
    name: 'credentials add',
    usage: 'CHANNEL',
    positionals: { min: 1, max: 1 },
    summary: 'Keep a secret for a channel in the store, sealed; it is read from standard input',
    options: { name: { placeholder: 'TEXT', help: 'What people call it' } },
    run: add,
  }),
  command({
    name: 'credentials rotate',
    usage: 'ID',
    positionals: { min: 1, max: 1 },
    summary: 'Put another secret in the place of a stored one; it is read from standard input',
    run: rotate,
  }),
  command({
    name: 'credentials remove',
    usage: 'ID',
    positionals: { min: 1, max: 1 },
    summary: 'Take a stored credential away, for good',
    run: remove,
  }),
];

/** A credential as it is listed: never the secret, nor any part of it. */
interface ListedCredential {
  readonly channel: string;
  /** The id of a stored one; else where it is read from; null where it would be in no place. */
  readonly credential: string | null;
  readonly name: string | null;
  readonly kept: 'environment' | 'file' | 'command' | 'store' | null;
  /** Null when it is there. */
  readonly problem: string | null;
  readonly since: string | null;
}

function list(context: CommandContext): Promise<ExitReason> {
  return withWorkspace(context, async (workspace) => {
    // Reads every secret that the configuration names.
    const built = await workspaceCatalogue(workspace);
    const { channels, credentials } = await workspace.store.configuration.load();
    const known = new Set(channels.map(({ id }) => id));
    const listed = [
      ...channels.flatMap(({ id, credentials: named }) =>
        named.length === 0 ? usualOf(built, id) : named.map((source) => listedOf(workspace, id, source)),
      ),
      ...credentials.map((each) => storedOf(workspace, each, known)),
    ].toSorted((a, b) => (a.channel < b.channel ? -1 : Number(a.channel > b.channel)));
    const { color } = context.output;
    const rows = listed.map(({ channel, credential, name, kept, problem, since }) => [
      channel,
      credential ?? '–',
      name ?? '–',
      kept ?? '–',
      since?.slice(0, 10) ?? '–',
      problem === null ? statusText('there', 'good', color) : statusText(`missing: ${problem}`, 'bad', color),
    ]);
    const titles = ['channel', 'credential', 'name', 'kept in', 'since', 'state'];
    const text = rows.length === 0 ? 'There are no credentials yet.' : tableText(titles, rows, color);
    printResult(context.output, { credentials: listed }, text);
    return 'ok';
  });
}

function listedOf(
  { secrets }: Workspace,
  channel: string,
  source: SecretSource | SealedSecret,
): ListedCredential {
  const read = secrets.read(source);
  const kept = source.kind === 'sealed' ? 'store' : source.kind;
  const problem = read.ok ? null : read.error;
  return { channel, credential: describeSource(source), name: null, kept, problem, since: null };
}

/** A channel that names no credential has one that follows from its provider, or none at all. */
function usualOf({ catalogue, problems }: BuiltCatalogue, channel: string): readonly ListedCredential[] {
  const common = { channel, name: null, since: null };
  const [usual] = catalogue.channels.get(channel)?.credentials ?? [];
  const isUsual =
    usual !== undefined && catalogue.channels.get(channel)?.provider.environment.includes(usual.id);
  if (isUsual) return [{ ...common, credential: usual.id, kept: 'environment', problem: null }];
  return problems
    .filter(
      ({ kind, subject }) => kind === 'missing-credential' && subject === channel && usual === undefined,
    )
    .map(({ detail }) => ({ ...common, credential: null, kept: null, problem: detail }));
}

function storedOf(
  workspace: Workspace,
  stored: StoredCredential,
  channels: ReadonlySet<string>,
): ListedCredential {
  const { channelId, name, createdAtMs, rotatedAtMs } = stored;
  const listed = listedOf(workspace, channelId, stored);
  const problem = channels.has(channelId) ? listed.problem : 'its channel is not there';
  return { ...listed, problem, name, since: new Date(rotatedAtMs ?? createdAtMs).toISOString() };
}

function add(context: CommandContext): Promise<ExitReason> {
  const [channel = ''] = context.positionals;
  return withSecret(context, async (workspace, secret) => {
    const added = await addCredential(toolsOf(workspace), channel, context.options['name'] ?? null, secret);
    if (!added.ok) return failed(context, added.error);
    const text = `${added.value} is kept for channel ${channel}; it is used within a second.`;
    printResult(context.output, { id: added.value, channel }, text);
    return 'ok';
  });
}

function rotate(context: CommandContext): Promise<ExitReason> {
  return withSecret(context, async (workspace, secret) => {
    const rotated = await rotateCredential(toolsOf(workspace), context.positionals[0] ?? '', secret);
    if (!rotated.ok) return failed(context, rotated.error);
    const { id, channelId: channel } = rotated.value;
    printResult(
      context.output,
      { id, channel },
      `${id} of channel ${channel} has its new secret within a second.`,
    );
    return 'ok';
  });
}

function remove(context: CommandContext): Promise<ExitReason> {
  return withWorkspace(context, async (workspace) => {
    const removed = await removeCredential(toolsOf(workspace), context.positionals[0] ?? '');
    if (!removed.ok) return failed(context, removed.error);
    const { id, channelId: channel } = removed.value;
    printResult(context.output, { id, channel }, `${id} of channel ${channel} is gone within a second.`);
    return 'ok';
  });
}

/** Reads the secret before anything is opened: a person may take long to write it. */
async function withSecret(
  context: CommandContext,
  run: (workspace: Workspace, secret: string) => Promise<ExitReason>,
): Promise<ExitReason> {
  const secret = await context.readSecret();
  if (!secret.ok) return failed(context, secret.error);
  return withWorkspace(context, (workspace) => run(workspace, secret.value));
}

function toolsOf({ store, settings, clock }: Workspace) {
  return { store, dataDir: settings.dataDir, actor: commandLine, nowMs: clock.now() };
}

function failed({ output }: CommandContext, reason: string): ExitReason {
  printFailure(output, [reason]);
  return 'failed';
}
