import { type AccountTools, amendOwner } from '../admin/accounts.ts';
import { ownerReport } from '../admin/owner-report.ts';
import { commandLine } from '../admin/people/actor.ts';
import { rateStandings } from '../admin/rate-standings.ts';
import type { OwnerKind } from '../catalogue/limits.ts';
import {
  type Command,
  type CommandContext,
  command,
  type ExitReason,
  printFailure,
  printResult,
} from './command.ts';
import { contrariesIn, limitBody, limitOptions, printRefusal } from './limit-options.ts';
import { ownerText } from './owner-text.ts';
import { tableText } from './table.ts';
import { type Workspace, withWorkspace } from './workspace.ts';

/** The commands that show and set limits, the same for every kind of owner. */
export function ownerCommands(owner: OwnerKind): readonly Command[] {
  const one = { usage: 'ID', positionals: { min: 1, max: 1 } } as const;
  return [
    command({
      name: `${owner}s show`,
      ...one,
      summary: `Show what ${owner === 'key' ? 'a key' : `an ${owner}`.replace('an g', 'a g')} has spent and may spend, and its limits`,
      run: (context) => withWorkspace(context, (workspace) => show(context, workspace, owner)),
    }),
    command({
      name: `${owner}s limit`,
      ...one,
      summary: 'Set budgets and rate limits; what is not named stays',
      options: limitOptions(owner),
      examples: [
        `headgate ${owner}s limit ${owner}-1 --day 20 --month 400 --alert-at 0.9`,
        `headgate ${owner}s limit ${owner}-1 --requests-per-minute 60 --model gpt-5`,
        `headgate ${owner}s limit ${owner}-1 --day none`,
      ],
      run: (context) => limit(context, owner),
    }),
  ];
}

export const groupsCommands: readonly Command[] = [
  command({ name: 'groups list', summary: 'List the groups of keys', run: listGroups }),
  ...ownerCommands('group'),
];

/** The tools of use cases about money and limits. */
export function accountTools({ store, clock }: Workspace): AccountTools {
  return { store, actor: commandLine, nowMs: clock.now() };
}

async function show(context: CommandContext, workspace: Workspace, owner: OwnerKind): Promise<ExitReason> {
  const found = await ownerReport(accountTools(workspace), owner, context.positionals[0] ?? '');
  if (!found.ok) {
    printFailure(context.output, [found.error]);
    return 'failed';
  }
  const { keys } = workspace.store;
  // Only the gateways themselves know how much of their leases is not used yet.
  const reading = { keys, idle: () => 0n };
  const rates = await rateStandings(reading, `${owner}:${found.value.id}`, found.value.limits);
  const report = { ...found.value, rates };
  printResult(context.output, report, ownerText(report, context.output.color));
  return 'ok';
}

function limit(context: CommandContext, owner: OwnerKind): Promise<ExitReason> {
  const problem = optionProblem(context);
  if (problem !== null) {
    printFailure(context.output, [problem]);
    return Promise.resolve('usage');
  }
  return withWorkspace(context, async (workspace) => {
    const body = limitBody(owner, context);
    const amended = await amendOwner(accountTools(workspace), owner, context.positionals[0] ?? '', body);
    return amended.ok ? show(context, workspace, owner) : printRefusal(context, amended.error);
  });
}

/** Options that say nothing together, or too much. */
export function optionProblem({ options }: Pick<CommandContext, 'options'>): string | null {
  const contrary = contrariesIn({ options });
  if (contrary !== null) return contrary;
  const isRate = (name: string) => /-per-|^concurrency$/.test(name);
  if (options['model'] !== undefined && !Object.keys(options).some(isRate))
    return 'name a rate beside --model, such as --requests-per-minute';
  return null;
}

function listGroups(context: CommandContext): Promise<ExitReason> {
  return withWorkspace(context, async ({ store }) => {
    const { groups, keys } = await store.configuration.load();
    const listed = groups.map(({ id, name, platform, timeZone, budgets, limits, source }) => ({
      ...{ id, name, platform, timezone: timeZone, source },
      isLimited: budgets !== null || limits !== null,
      keys: keys.filter(({ groupId, status }) => groupId === id && status === 'active').length,
    }));
    const rows = listed.map(({ id, name, platform, isLimited, keys: count, source }) => [
      ...[id, name, platform, isLimited ? 'limited' : '–', String(count), source],
    ]);
    const titles = ['id', 'name', 'platform', 'limits', 'keys', 'from'];
    const text =
      rows.length === 0 ? 'There are no groups yet.' : tableText(titles, rows, context.output.color);
    printResult(context.output, { groups: listed }, text);
    return 'ok';
  });
}
