import { findKey, generateKey } from '../admin/keys.ts';
import { createKey, type NewKey, rotateKey, setKeyStatus } from '../admin/make-key.ts';
import { commandLine } from '../admin/people/actor.ts';
import type { KeyStatus } from '../catalogue/catalogue.ts';
import { readDuration } from '../catalogue/duration.ts';
import type { StoredKey } from '../ports/configuration-store.ts';
import {
  type Command,
  type CommandContext,
  command,
  type ExitReason,
  printFailure,
  printResult,
  readTime,
} from './command.ts';
import { limitBody, limitOptions, printRefusal } from './limit-options.ts';
import { ownerCommands } from './owner-commands.ts';
import { cut, fittingTable, statusText } from './table.ts';
import { withWorkspace } from './workspace.ts';

export const keysCommands: readonly Command[] = [
  command({
    name: 'keys create',
    summary: 'Make a key and show it, once',
    options: {
      name: { placeholder: 'TEXT', help: 'What people call it' },
      group: { placeholder: 'ID', help: 'The group it belongs to; needed when there are several' },
      account: { placeholder: 'ID', help: 'The account that pays; needed when there are several' },
      models: { placeholder: 'IDS', help: 'The only models it may call, separated by commas' },
      expires: { placeholder: 'WHEN', help: 'A date such as 2027-01-31, or a time from now such as 90d' },
      strict: { placeholder: null, help: 'Refuse calls of which a translation would lose anything' },
      addresses: {
        placeholder: 'RANGES',
        help: 'The only addresses it may be used from, such as 203.0.113.0/24, separated by commas',
      },
      ...limitOptions('key'),
    },
    examples: ['headgate keys create --name ci --group team --account partner-one --expires 90d'],
    run: create,
  }),
  command({
    name: 'keys generate',
    summary: 'Print a key for use in a configuration file, without storing it',
    run: generate,
  }),
  command({ name: 'keys list', summary: 'List the keys', run: list }),
  statusCommand('disable', 'disabled', 'Stop a key from working until it is enabled again'),
  statusCommand('enable', 'active', 'Let a disabled key work again'),
  statusCommand('revoke', 'revoked', 'Stop a key from working, for good'),
  command({
    name: 'keys rotate',
    usage: 'ID',
    positionals: { min: 1, max: 1 },
    summary: 'Make a successor with the same rights and show it, once',
    options: { grace: { placeholder: 'TIME', help: 'How long the old key still works beside it (24h)' } },
    examples: ['headgate keys rotate ci --grace 1h'],
    run: rotate,
  }),
  ...ownerCommands('key'),
];

function create(context: CommandContext): Promise<ExitReason> {
  const { options, output } = context;
  return withWorkspace(context, async ({ store, peppers, clock }) => {
    const nowMs = clock.now();
    const expiresAtMs = options['expires'] === undefined ? null : readMoment(options['expires'], nowMs);
    if (expiresAtMs !== null && !(expiresAtMs > nowMs)) {
      printFailure(output, [
        '--expires must be a date to come such as 2027-01-31, or a time from now such as 90d, at most 100 years',
      ]);
      return 'usage';
    }
    const body = {
      ...given('name', options['name']),
      ...given('group', options['group']),
      ...given('account', options['account']),
      ...given('models', listIn(options['models'])),
      ...given('addressRanges', listIn(options['addresses'])),
      ...given('expires', isoTime(expiresAtMs) ?? undefined),
      ...given('strict', options['strict'] === undefined ? undefined : true),
      ...limitBody('key', context),
    };
    const tools = { store, peppers, nowMs, actor: commandLine, scope: 'all', unbounded: 'all' } as const;
    const created = await createKey(tools, body);
    return created.ok ? showKey(context, created.value, []) : printRefusal(context, created.error);
  });
}

function given(member: string, value: unknown): object {
  return value === undefined ? {} : { [member]: value };
}

function listIn(words: string | undefined): readonly string[] | undefined {
  return words?.split(',').map((word) => word.trim());
}

/** Milliseconds since the epoch; NaN when it is neither a date nor a duration. */
function readMoment(text: string, nowMs: number): number {
  const duration = readDuration(text);
  return duration === null ? (readTime(text) ?? Number.NaN) : nowMs + duration;
}

function generate({ output }: CommandContext): Promise<ExitReason> {
  const key = generateKey();
  printResult(output, { key }, key);
  return Promise.resolve('ok');
}

/** The key alone on its line, so that it can be copied or piped; what else there is to say goes to standard error. */
function showKey({ output }: CommandContext, { key, record }: NewKey, notes: readonly string[]): ExitReason {
  const { id, name, accountId, groupId, models, expiresAtMs, strict } = record;
  const shown = { key, id, name, accountId, groupId, models, expiresAt: isoTime(expiresAtMs), strict };
  printResult(output, shown, key);
  if (output.json) return 'ok';
  output.writeError(`\n${name} (${id}) in group ${groupId}, paid by ${accountId}.\n`);
  for (const note of ['This is the only time it is shown. It works within a second.', ...notes])
    output.writeError(`${note}\n`);
  return 'ok';
}

const nameCharsMax = 18;

function list(context: CommandContext): Promise<ExitReason> {
  return withWorkspace(context, async ({ store, clock }) => {
    const { keys } = await store.configuration.load();
    const { color } = context.output;
    const text =
      keys.length === 0
        ? 'There are no keys yet.'
        : fittingTable(
            keys,
            {
              // It is copied into other commands, so it is whole however wide it is.
              id: ({ id }) => id,
              key: ({ hint }) => hint,
              state: (key) => keyState(key, clock.now(), color),
              expires: ({ expiresAtMs }) => (expiresAtMs === null ? '–' : isoDay(expiresAtMs)),
            },
            {
              name: ({ name }) => cut(name, nameCharsMax),
              account: ({ accountId }) => accountId,
              group: ({ groupId }) => groupId,
              created: ({ createdAtMs }) => isoDay(createdAtMs),
              from: ({ source }) => source,
            },
            context.output,
          );
    printResult(context.output, { keys: keys.map(withoutHash) }, text);
    return 'ok';
  });
}

/** A hash is never shown: it is of no use to anyone but a searcher. */
function withoutHash({ hash: _, ...key }: StoredKey): Omit<StoredKey, 'hash'> {
  return key;
}

function keyState(key: StoredKey, nowMs: number, color: boolean): string {
  if (key.status !== 'active') return statusText(key.status, 'bad', color);
  if ((key.expiresAtMs ?? Infinity) <= nowMs || (key.retiresAtMs ?? Infinity) <= nowMs)
    return statusText('expired', 'bad', color);
  return key.retiresAtMs === null
    ? statusText('active', 'good', color)
    : statusText(`until ${isoDay(key.retiresAtMs)}`, 'idle', color);
}

function statusCommand(verb: string, status: KeyStatus, summary: string): Command {
  return command({
    name: `keys ${verb}`,
    usage: 'ID',
    positionals: { min: 1, max: 1 },
    summary,
    run: (context) => setStatus(context, status),
  });
}

function setStatus(context: CommandContext, status: KeyStatus): Promise<ExitReason> {
  return withWorkspace(context, async ({ store, clock }) => {
    const found = findKey(await store.configuration.load(), context.positionals[0] ?? '');
    const tools = { store, actor: commandLine, nowMs: clock.now() };
    const set = found.ok ? await setKeyStatus(tools, found.value, status) : found;
    if (!found.ok || !set.ok) {
      printFailure(context.output, [set.ok ? '' : set.error]);
      return 'failed';
    }
    printResult(
      context.output,
      { id: found.value.id, status },
      `${found.value.name} (${found.value.id}) is ${status} within a second.`,
    );
    return 'ok';
  });
}

function rotate(context: CommandContext): Promise<ExitReason> {
  const given = context.options['grace'] ?? '24h';
  const graceMs = readDuration(given);
  if (graceMs === null) {
    printFailure(context.output, ['--grace must be a duration such as 24h, at most 100 years']);
    return Promise.resolve('usage');
  }
  return withWorkspace(context, async ({ store, peppers, clock }) => {
    const old = findKey(await store.configuration.load(), context.positionals[0] ?? '');
    if (!old.ok) {
      printFailure(context.output, [old.error]);
      return 'failed';
    }
    const rotated = await rotateKey(
      { store, peppers, actor: commandLine, nowMs: clock.now() },
      old.value,
      graceMs,
    );
    if (rotated.ok) return showKey(context, rotated.value, [`The old key works for ${given} more.`]);
    printFailure(context.output, [rotated.error]);
    return 'failed';
  });
}

function isoDay(timeMs: number): string {
  return new Date(timeMs).toISOString().slice(0, 10);
}

function isoTime(timeMs: number | null): string | null {
  return timeMs === null ? null : new Date(timeMs).toISOString();
}
