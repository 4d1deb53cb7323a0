import { LazySimulator } from '@headgate/simulator';
import { type ChannelTest, testChannel } from '../admin/channel-test.ts';
import type { Catalogue, Channel, Credential, Target } from '../catalogue/catalogue.ts';
import { didYouMean } from '../config/suggestion.ts';
import { openUpstream } from '../upstream/channels.ts';
import { HttpClient } from '../upstream/client.ts';
import { channelsList } from './channels-list.ts';
import {
  type Command,
  type CommandContext,
  command,
  type ExitReason,
  printFailure,
  printResult,
} from './command.ts';
import { right, statusText, tableText } from './table.ts';
import { withWorkspace, workspaceCatalogue } from './workspace.ts';

export const channelsCommands: readonly Command[] = [
  channelsList,
  command({
    name: 'channels test',
    usage: '[ID…]',
    positionals: { min: 0, max: 1000 },
    summary: 'Ask channels for something small and say what fails',
    options: {
      call: {
        placeholder: null,
        help: 'Ask for one token, which costs money, even where a list of models would do',
      },
      model: { placeholder: 'ID', help: 'The model to ask for one token of' },
    },
    run: testChannels,
  }),
];

function targetsOf({ models }: Catalogue, channel: Channel): readonly Target[] {
  return [...models.values()].flatMap((model) =>
    model.targets.filter((target) => target.channel === channel),
  );
}

function testChannels(context: CommandContext): Promise<ExitReason> {
  return withWorkspace(context, async (workspace) => {
    const simulator = new LazySimulator();
    const client = new HttpClient({ connectTimeoutMs: workspace.settings.connectTimeoutMs });
    try {
      const { catalogue } = await workspaceCatalogue(workspace, () => simulator.origin());
      const targets = chooseTargets(context, catalogue);
      if (typeof targets === 'string') {
        printFailure(context.output, [targets]);
        return 'usage';
      }
      const options = {
        call: context.options['call'] !== undefined || context.options['model'] !== undefined,
        timeoutMs: workspace.settings.firstContentTimeoutMs,
      };
      const upstream = openUpstream(client);
      const tests = await Promise.all(
        targets.flatMap((target) =>
          withEachCredential(target).map((credential) => testChannel(upstream, target, credential, options)),
        ),
      );
      printResult(context.output, { tests }, testsText(tests, context.output.color));
      return tests.every((test) => test.works) ? 'ok' : 'failed';
    } finally {
      await client.close();
      await simulator.close();
    }
  });
}

/** One target for each channel asked for, or for each that is on; or what is wrong with the asking. */
function chooseTargets(
  { positionals, options }: CommandContext,
  catalogue: Catalogue,
): readonly Target[] | string {
  const ids = [...catalogue.channels.keys()];
  const unknown = positionals.find((id) => !ids.includes(id));
  if (unknown !== undefined) return `there is no channel "${unknown}"${didYouMean(unknown, ids)}`;
  const asked = [...catalogue.channels.values()].filter(({ id, enabled }) =>
    positionals.length === 0 ? enabled : positionals.includes(id),
  );
  const modelId = options['model'];
  const model = modelId === undefined ? null : catalogue.models.get(modelId);
  if (model === undefined)
    return `there is no model "${modelId}"${didYouMean(modelId ?? '', catalogue.models.keys())}`;
  const pool = (channel: Channel): readonly Target[] =>
    model?.targets.filter((target) => target.channel === channel) ?? targetsOf(catalogue, channel);
  const targets = asked.flatMap((channel) => pool(channel).slice(0, 1));
  return targets.length > 0 ? targets : 'there is no channel to test';
}

/** A channel works when it does with all its credentials: each of them is asked with. */
function withEachCredential({ channel: { credentials } }: Target): readonly (Credential | null)[] {
  return credentials.length === 0 ? [null] : credentials;
}

function testsText(tests: readonly ChannelTest[], color: boolean): string {
  const titles = ['channel', 'credential', 'result', right('status'), right('ms'), 'detail'];
  const rows = tests.map(({ channelId, credentialId, works, status, durationMs, detail }) => [
    channelId,
    credentialId ?? '–',
    works ? statusText('works', 'good', color) : statusText('fails', 'bad', color),
    status === null ? '–' : String(status),
    String(durationMs),
    detail,
  ]);
  return tableText(titles, rows, color);
}
