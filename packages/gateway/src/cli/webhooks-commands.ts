import { randomBytes } from 'node:crypto';
import { type WebhookStatus, webhookStatuses } from '../admin/webhooks/webhook-status.ts';
import { secretsNow } from '../catalogue/webhooks.ts';
import { postMessage } from '../events/post-message.ts';
import { testMessage } from '../events/webhook-message.ts';
import { HttpClient } from '../upstream/client.ts';
import { changeWebhooksCommands } from './change-webhooks-commands.ts';
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
    name: 'webhooks list',
    summary: 'List the webhooks that hear of events, and what became of their messages',
    run: listWebhooks,
  }),
  ...changeWebhooksCommands,
  command({
    name: 'webhooks test',
    usage: 'NAME',
    positionals: { min: 1, max: 1 },
    summary: 'Post a test message to a webhook, and say what its receiver answers',
    examples: ['headgate webhooks test ops'],
    run: testWebhook,
  }),
];

function listWebhooks(context: CommandContext): Promise<ExitReason> {
  const { output } = context;
  return withWorkspace(context, async (workspace) => {
    const { webhooks } = await workspaceCatalogue(workspace);
    const standings = await workspace.store.events.standings();
    const statuses = webhookStatuses(webhooks, standings, workspace.clock.now());
    printResult(output, { webhooks: statuses }, listText(statuses, output));
    return 'ok';
  });
}

const titles = ['webhook', 'state', 'sent to', 'from', ...['waiting', 'taken', 'given up'].map(right)];

function listText(statuses: readonly WebhookStatus[], output: CommandContext['output']): string {
  if (statuses.length === 0)
    return 'There are no webhooks; make one with headgate webhooks create, or declare them under alerts.webhooks of the configuration file.';
  const rows = statuses.map(({ name, origin, source, waiting, delivered, givenUp, ...status }) => [
    name,
    stateText(status, output.color),
    ...[origin, source],
    ...[waiting, delivered, givenUp].map((count) => count.toLocaleString('en')),
  ]);
  const notes = statuses.map(({ problem }) => (problem === null ? null : `last answer: ${problem}`));
  return tableWithNotes(titles, rows, notes, output);
}

function stateText(
  { enabled, isReady, problem }: Pick<WebhookStatus, 'enabled' | 'isReady' | 'problem'>,
  color: boolean,
): string {
  if (!enabled) return statusText('off', 'idle', color);
  if (!isReady) return statusText('no secret', 'bad', color);
  return problem === null ? statusText('ok', 'good', color) : statusText('failing', 'bad', color);
}

function testWebhook(context: CommandContext): Promise<ExitReason> {
  const { output } = context;
  const [name = ''] = context.positionals;
  return withWorkspace(context, async (workspace): Promise<ExitReason> => {
    const { webhooks, problems } = await workspaceCatalogue(workspace);
    const webhook = webhooks.find(({ id }) => id === name);
    const gap = problems.find(({ kind, subject }) => kind === 'webhook-without-secret' && subject === name);
    if (webhook === undefined || webhook.secrets.length === 0) {
      printFailure(output, [
        webhook === undefined
          ? `there is no webhook "${name}"`
          : `${name}: ${gap?.detail ?? 'it has no secret'}`,
      ]);
      return 'failed';
    }
    const { deploymentName, connectTimeoutMs } = workspace.settings;
    const id = randomBytes(16).toString('hex');
    const now = workspace.clock.now();
    const message = testMessage(id, deploymentName, secretsNow(webhook, now), now);
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
