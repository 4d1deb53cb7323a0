import { fail, type Result, succeed } from '@headgate/protocols';
import { commandLine } from '../admin/people/actor.ts';
import type { PieceRefusal, PieceTools } from '../admin/piecewise.ts';
import {
  changeWebhook,
  createWebhook,
  findWebhook,
  graceUsual,
  removeWebhook,
  rotateWebhook,
  type ToldWebhook,
} from '../admin/webhooks/change-webhooks.ts';
import { webhookText } from '../admin/webhooks/webhook-form.ts';
import { severities } from '../ports/events.ts';
import {
  type Command,
  type CommandContext,
  type CommandOption,
  command,
  type ExitReason,
  printFailure,
  printResult,
} from './command.ts';
import { type Workspace, withWorkspace } from './workspace.ts';

const one = { usage: 'NAME', positionals: { min: 1, max: 1 } } as const;

const memberOptions = {
  url: { placeholder: 'URL', help: 'Where its messages are posted to' },
  kinds: {
    placeholder: 'KINDS',
    help: 'The only kinds of events it hears of, separated by commas; all for every kind',
  },
  severity: {
    placeholder: 'SEVERITY',
    help: `The least weight of events it hears of: ${severities.join(', ')}`,
  },
  description: { placeholder: 'TEXT', help: 'What it is for' },
  'allow-private': {
    placeholder: 'YES|NO',
    help: 'Whether its address may be of a private network, and plain http',
  },
} as const satisfies Readonly<Record<string, CommandOption>>;

/** The commands that make webhooks of the operator's own, and change them. */
export const changeWebhooksCommands: readonly Command[] = [
  command({
    ...{ name: 'webhooks show', ...one, summary: 'Show a webhook as a configuration file declares it' },
    run: show,
  }),
  command({
    ...{ name: 'webhooks create', ...one, options: memberOptions, run: create },
    summary: 'Make a webhook, and show the secret that its messages are signed with, once',
    examples: ['headgate webhooks create ops --url https://ops.example.com/headgate --severity warning'],
  }),
  command({
    ...{ name: 'webhooks change', ...one, options: memberOptions, run: change },
    summary: 'Change a webhook; what is not named stays',
    examples: [
      'headgate webhooks change ops --kinds bug,ledger-unavailable',
      'headgate webhooks change ops --kinds all',
    ],
  }),
  switchCommand('enable', true, 'Let a webhook hear of events again'),
  switchCommand(
    'disable',
    false,
    'Let a webhook hear of nothing until it is enabled; what waits for it waits',
  ),
  command({
    ...{ name: 'webhooks rotate', ...one, run: rotate },
    summary: 'Give a webhook another secret and show it, once',
    options: {
      grace: { placeholder: 'TIME', help: `How long the one in force signs beside it (${graceUsual})` },
    },
    examples: ['headgate webhooks rotate ops --grace 1h'],
  }),
  command({
    ...{ name: 'webhooks remove', ...one, run: remove },
    summary: 'Take a webhook away, its secrets and its messages with it',
  }),
];

function show(context: CommandContext): Promise<ExitReason> {
  return withWebhook(context, async ({ store }, name) => {
    const webhook = findWebhook(await store.configuration.load(), name);
    if (webhook === null) return fail({ kind: 'unknown', message: `there is no webhook "${name}"` });
    const text = webhookText(webhook);
    printResult(context.output, { webhook: name, source: webhook.source, yaml: text }, text.trimEnd());
    return succeed(null);
  });
}

function create(context: CommandContext): Promise<ExitReason> {
  return withMembers(context, (members) =>
    withWebhook(context, async (workspace, name) => {
      const given = Object.entries(members).filter(([, value]) => value !== null);
      const made = await createWebhook(toolsOf(workspace), name, Object.fromEntries(given));
      return made.ok ? showSecret(context, made.value, 'It hears of events within a second.') : made;
    }),
  );
}

function change(context: CommandContext): Promise<ExitReason> {
  return withMembers(context, (members) => changeMembers(context, members, 'is changed'));
}

function switchCommand(verb: string, enabled: boolean, summary: string): Command {
  return command({
    ...{ name: `webhooks ${verb}`, ...one, summary },
    run: (context) => changeMembers(context, { enabled }, enabled ? 'is on' : 'is off'),
  });
}

function changeMembers(
  context: CommandContext,
  members: Readonly<Record<string, unknown>>,
  done: string,
): Promise<ExitReason> {
  return withWebhook(context, async (workspace, name) => {
    const changed = await changeWebhook(toolsOf(workspace), name, members, () => true);
    if (changed.ok) printResult(context.output, { webhook: name }, `${name} ${done} within a second.`);
    return changed;
  });
}

function rotate(context: CommandContext): Promise<ExitReason> {
  const grace = context.options['grace'] ?? graceUsual;
  return withWebhook(context, async (workspace, name) => {
    const rotated = await rotateWebhook(toolsOf(workspace), name, grace);
    return rotated.ok
      ? showSecret(context, rotated.value, `The one before signs beside it for ${grace}.`)
      : rotated;
  });
}

function remove(context: CommandContext): Promise<ExitReason> {
  return withWebhook(context, async (workspace, name) => {
    const removed = await removeWebhook(toolsOf(workspace), name, () => true);
    if (removed.ok) printResult(context.output, { webhook: name }, `${name} is gone within a second.`);
    return removed;
  });
}

/** The secret alone on its line, so that it can be copied or piped; what else there is to say goes to standard error. */
function showSecret({ output }: CommandContext, { id, secret }: ToldWebhook, note: string) {
  printResult(output, { webhook: id, secret }, secret);
  if (!output.json) output.writeError(`\nThe secret of ${id}. This is the only time it is shown. ${note}\n`);
  return succeed(null);
}

/** Hands on the members that options name; null takes one back to what holds where nothing is said. */
function withMembers(
  context: CommandContext,
  run: (members: Readonly<Record<string, unknown>>) => Promise<ExitReason>,
): Promise<ExitReason> {
  const { options, output } = context;
  const { url, kinds, severity, description, 'allow-private': allowPrivate } = options;
  if (allowPrivate !== undefined && allowPrivate !== 'yes' && allowPrivate !== 'no') {
    printFailure(output, ['--allow-private must be yes or no']);
    return Promise.resolve('usage');
  }
  const members = {
    ...{ url, severity, description: description === '' ? null : description },
    kinds: kinds === 'all' ? null : kinds?.split(',').map((kind) => kind.trim()),
    allowPrivate: allowPrivate === undefined ? undefined : allowPrivate === 'yes',
  };
  return run(Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)));
}

function withWebhook(
  context: CommandContext,
  run: (workspace: Workspace, name: string) => Promise<Result<unknown, PieceRefusal>>,
): Promise<ExitReason> {
  return withWorkspace(context, async (workspace) => {
    const done = await run(workspace, context.positionals[0] ?? '');
    return done.ok ? 'ok' : refused(context, done.error);
  });
}

function refused({ output }: CommandContext, refusal: PieceRefusal): ExitReason {
  switch (refusal.kind) {
    case 'invalid':
      printFailure(
        output,
        refusal.mistakes.map(({ field, message }) => `${optionOf(field)} ${message}`.trim()),
      );
      return 'usage';
    case 'unknown':
    case 'conflict':
      printFailure(output, [refusal.message]);
      return 'failed';
    case 'stale':
      printFailure(output, ['it was changed meanwhile; try again']);
      return 'failed';
  }
}

/** The option that sets a member: `kinds.0` is a part of `--kinds`. */
function optionOf(field: string): string {
  const [member = ''] = field.split('.');
  if (member === 'name') return 'the name';
  return member === '' ? '' : `--${member === 'allowPrivate' ? 'allow-private' : member}`;
}

function toolsOf({ store, settings, clock }: Workspace): PieceTools {
  return {
    ...{ store, dataDir: settings.dataDir, actor: commandLine, nowMs: clock.now() },
    // A gateway that runs notices by itself.
    bringIn: () => Promise.resolve(),
  };
}
