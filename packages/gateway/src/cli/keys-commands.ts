import { createKey, findKey, generateKey, type NewKey, rotateKey } from '../admin/keys.ts';
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
import { ownerCommands } from './owner-commands.ts';
import { statusText, tableText } from './table.ts';
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
    const created = await createKey(
      { store: store.configuration, peppers, nowMs },
      {
        name: options['name'] ?? null,
        groupId: options['group'] ?? null,
        accountId: options['account'] ?? null,
        models: options['models']?.split(',').map((model) => model.trim()) ?? null,
        expiresAtMs,
        strict: options['strict'] !== undefined,
      },
    );
    if (created.ok) return showKey(context, created.value, []);
    printFailure(output, [created.error]);
    return 'usage';
  });
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

function list(context: CommandContext): Promise<ExitReason> {
  return withWorkspace(context, async ({ store, clock }) => {
    const { keys } = await store.configuration.load();
    const { color } = context.output;
    const rows = keys.map((key) => [
      key.id,
      key.name,
      key.hint,
      key.groupId,
      key.accountId,
      keyState(key, clock.now(), color),
      key.expiresAtMs === null ? '–' : isoDay(key.expiresAtMs),
      isoDay(key.createdAtMs),
      key.source,
    ]);
    const titles = ['id', 'name', 'key', 'group', 'account', 'state', 'expires', 'created', 'from'];
    const text = keys.length === 0 ? 'There are no keys yet.' : tableText(titles, rows, color);
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
  return withWorkspace(context, async ({ store }) => {
    const found = findKey(await store.configuration.load(), context.positionals[0] ?? '');
    const problem = found.ok ? statusProblem(found.value, status) : found.error;
    if (!found.ok || problem !== null) {
      printFailure(context.output, [problem ?? '']);
      return 'failed';
    }
    await store.configuration.setKeyStatus(found.value.id, status);
    printResult(
      context.output,
      { id: found.value.id, status },
      `${found.value.name} (${found.value.id}) is ${status} within a second.`,
    );
    return 'ok';
  });
}

/** Revoking is for good: a key that may have leaked must not come back by mistake. */
function statusProblem(key: StoredKey, status: KeyStatus): string | null {
  return key.status === 'revoked' && status !== 'revoked'
    ? `the key ${key.id} is revoked, and that is for good`
    : null;
}

function rotate(context: CommandContext): Promise<ExitReason> {
  const given = context.options['grace'] ?? '24h';
  const graceMs = readDuration(given);
  if (graceMs === null) {
    printFailure(context.output, ['--grace must be a duration such as 24h, at most 100 years']);
    return Promise.resolve('usage');
  }
  return withWorkspace(context, async ({ store, peppers, clock }) => {
    const rotated = await rotateKey(
      { store: store.configuration, peppers, nowMs: clock.now() },
      context.positionals[0] ?? '',
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
