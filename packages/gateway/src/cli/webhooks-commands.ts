import { randomBytes } from 'node:crypto';
import { type WebhookStatus, webhookStatuses } from '../admin/webhook-status.ts';
import { postMessage } from '../events/post-message.ts';
import { testMessage } from '../events/webhook-message.ts';
import { HttpClient } from '../upstream/client.ts';
import {
  type Command,
  type CommandContext,
  command,
  type ExitReason,
  printFailure,
  printResult,
} from './command.ts';
import { right, statusText, tableWithNotes } from './table.ts';
import { withWorkspace, workspaceCatalogue } from './workspace.ts';

export const webhooksCommands: readonly Command[] = [
  command({
    name: 'events webhooks',
    summary: 'List the webhooks that hear of events, and what became of their messages',
    run: listWebhooks,
  }),
  command({
    name: 'events test',
    usage: 'WEBHOOK',
    positionals: { min: 1, max: 1 },
    summary: 'Post a test message to a webhook, and say what its receiver answers',
    examples: ['headgate events test ops'],
    run: testWebhook,
  }),
];

function listWebhooks(context: CommandContext): Promise<ExitReason> {
  const { output } = context;
  return withWorkspace(context, async (workspace) => {
    const { webhooks } = await workspaceCatalogue(workspace);
    const statuses = webhookStatuses(webhooks, await workspace.store.events.standings());
    printResult(output, { webhooks: statuses }, listText(statuses, output));
    return 'ok';
  });
}

const titles = ['webhook', 'state', 'sent to', ...['waiting', 'taken', 'given up'].map(right)];

function listText(statuses: readonly WebhookStatus[], output: CommandContext['output']): string {
  if (statuses.length === 0)
    return 'There are no webhooks; declare them under alerts.webhooks of the configuration file.';
  const rows = statuses.map(({ name, origin, isReady, problem, waiting, delivered, givenUp }) => [
    name,
    statusText(
      !isReady ? 'no secret' : problem === null ? 'ok' : 'failing',
      isReady && problem === null ? 'good' : 'bad',
      output.color,
    ),
    origin,
    ...[waiting, delivered, givenUp].map((count) => count.toLocaleString('en')),
  ]);
  const notes = statuses.map(({ problem }) => (problem === null ? null : `last answer: ${problem}`));
  return tableWithNotes(titles, rows, notes, output);
}

function testWebhook(context: CommandContext): Promise<ExitReason> {
  const { output } = context;
  const [name = ''] = context.positionals;
  return withWorkspace(context, async (workspace): Promise<ExitReason> => {
    const { webhooks, problems } = await workspaceCatalogue(workspace);
    const webhook = webhooks.find(({ id }) => id === name);
    const gap = problems.find(({ kind, subject }) => kind === 'webhook-without-secret' && subject === name);
    if (webhook === undefined || webhook.secret === null) {
      printFailure(output, [
        webhook === undefined
          ? `there is no webhook "${name}"`
          : `${name}: ${gap?.detail ?? 'it has no secret'}`,
      ]);
      return 'failed';
    }
    const { deploymentName, connectTimeoutMs } = workspace.settings;
    const id = randomBytes(16).toString('hex');
    const message = testMessage(id, deploymentName, webhook.secret, workspace.clock.now());
    const client = new HttpClient({ connectTimeoutMs });
    const problem = await postMessage(client, webhook, message);
    await client.close();
    if (problem === null) {
      printResult(output, { webhook: name, id, isTaken: true }, `${name} has taken the message ${id}.`);
      return 'ok';
    }
    printFailure(output, [`${name}: ${problem}`]);
    return 'failed';
  });
}
