import { fail, type Result, succeed } from '@headgate/protocols';
import { commandLine } from '../admin/people/actor.ts';
import { openPeople } from '../admin/people/open-people.ts';
import { namedOrigin } from '../admin/people/open-stronger.ts';
import { makePasswordLink } from '../admin/people/password-links.ts';
import { setPassword } from '../admin/people/sign-in.ts';
import { readServingFile } from '../admin/serving.ts';
import type { KnownPerson } from '../ports/people.ts';
import {
  type Command,
  type CommandContext,
  command,
  type ExitReason,
  printFailure,
  printResult,
} from './command.ts';
import { statusText, tableText } from './table.ts';
import { type Workspace, withWorkspace } from './workspace.ts';

export const consoleCommands: readonly Command[] = [
  command({ name: 'console people', summary: 'List who may sign in to the console', run: listPeople }),
  command({
    name: 'console reset-password',
    summary: 'Print a link by which a person sets a new password, once; or set it from standard input',
    options: {
      person: { placeholder: 'LOGIN', help: 'The name or e-mail that they sign in with' },
      set: { placeholder: null, help: 'Read the new password from standard input instead' },
      'remove-totp': {
        placeholder: null,
        help: 'Remove their authenticator app, too, and its recovery codes',
      },
    },
    examples: ['headgate console reset-password --person ann@example.com'],
    run: resetPassword,
  }),
];

const pageOfPeople = 200;

async function everybody({ store }: Workspace): Promise<readonly KnownPerson[]> {
  const people: KnownPerson[] = [];
  for (;;) {
    const page = await store.people.list('all', pageOfPeople, people.at(-1)?.login ?? null);
    people.push(...page);
    if (page.length < pageOfPeople) return people;
  }
}

function listPeople(context: CommandContext): Promise<ExitReason> {
  return withWorkspace(context, async (workspace) => {
    const people = await everybody(workspace);
    const { color } = context.output;
    const rows = people.map(({ login, name, isOperator, disabledAtMs, memberships }) => [
      login,
      name,
      isOperator
        ? 'operator'
        : memberships.map(({ accountId, role }) => `${role} of ${accountId}`).join(', ') || '–',
      disabledAtMs === null ? statusText('active', 'good', color) : statusText('disabled', 'bad', color),
    ]);
    const titles = ['signs in as', 'name', 'may', 'state'];
    const shown = people.map(({ id, login, name, isOperator, disabledAtMs, memberships }) => {
      return { id, login, name, isOperator, isDisabled: disabledAtMs !== null, memberships };
    });
    const text =
      rows.length === 0 ? 'There is nobody yet: the start prints a link.' : tableText(titles, rows, color);
    printResult(context.output, { people: shown }, text);
    return 'ok';
  });
}

async function resetPassword(context: CommandContext): Promise<ExitReason> {
  const { person: login, set } = context.options;
  if (login === undefined) return failed(context, '--person must name who signs in', 'usage');
  const secret = set === undefined ? succeed(null) : await context.readSecret();
  if (!secret.ok) return failed(context, secret.error, 'failed');
  return withWorkspace(context, async (workspace) => {
    const { store } = workspace;
    const person = await store.people.findByLogin(login);
    if (person === null)
      return failed(
        context,
        `nobody signs in as "${login}": headgate console people lists everybody`,
        'failed',
      );
    if (context.options['remove-totp'] !== undefined) await store.factors.removeTotp(person.id);
    return secret.value === null
      ? printLink(context, workspace, person)
      : setTo(context, workspace, person, secret.value.replace(/\r?\n$/, ''));
  });
}

async function setTo(
  context: CommandContext,
  { store, clock }: Workspace,
  person: KnownPerson,
  password: string,
): Promise<ExitReason> {
  const people = openPeople(store, '', clock.now);
  const done = await setPassword(people, commandLine, person, password, null);
  if (!done.ok) {
    const { error } = done;
    return failed(
      context,
      'message' in error ? `the password ${error.message}` : 'try again later',
      'failed',
    );
  }
  const text = `The password of ${person.login} is set. All of their sessions have ended.`;
  printResult(context.output, { id: person.id, login: person.login }, text);
  return 'ok';
}

async function printLink(
  context: CommandContext,
  workspace: Workspace,
  person: KnownPerson,
): Promise<ExitReason> {
  const origin = originOf(workspace);
  if (!origin.ok) return failed(context, origin.error, 'failed');
  const { store, peppers, clock } = workspace;
  const tools = { store, peppers, now: clock.now, origin: () => origin.value };
  const { link, expiresAtMs } = await makePasswordLink(tools, commandLine, person);
  const expiresAt = new Date(expiresAtMs).toISOString();
  printResult(context.output, { id: person.id, login: person.login, link, expiresAt }, link);
  if (!context.output.json)
    context.output.writeError(`\n${person.login} sets a new password by it, once, until ${expiresAt}.\n`);
  return 'ok';
}

/** The origin that links lead to: the configured one, or the one that a running gateway listens on. */
function originOf({ settings }: Workspace): Result<string, string> {
  if (settings.consoleOrigin !== null) return succeed(settings.consoleOrigin);
  const serving = readServingFile(settings.dataDir);
  return serving === null
    ? fail('no gateway serves this directory: start it, set --console-origin, or use --set')
    : succeed(namedOrigin(serving.consoleOrigin));
}

function failed({ output }: CommandContext, reason: string, as: ExitReason): ExitReason {
  printFailure(output, [reason]);
  return as;
}
