import { LazySimulator } from '@headgate/simulator';
import { type ChannelTest, testChannel } from '../admin/channel-test.ts';
import type { Catalogue, Channel, Credential, Target } from '../catalogue/catalogue.ts';
import { didYouMean } from '../config/suggestion.ts';
import type { Settings } from '../config.ts';
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
import { cut, right, statusText, tableWithNotes } from './table.ts';
import { withWorkspace, workspaceCatalogue } from './workspace.ts';

export const channelsCommands: readonly Command[] = [
  channelsList,
  command({
    name: 'channels test',
    usage: '[ID…]',
    positionals: { min: 0, max: 1000 },
    summary: 'Ask a model of each channel for one token, and say what fails and how to mend it',
    options: {
      all: { placeholder: null, help: 'Every model of each channel, not the first alone' },
      list: {
        placeholder: null,
        help: 'Ask for the list of models, which costs nothing, where there is one',
      },
      call: { placeholder: null, help: 'Ask for one token, as it does unless told otherwise' },
      model: { placeholder: 'ID', help: 'The model to ask for one token of' },
    },
    run: testChannels,
  }),
];

export function targetsOf({ models }: Catalogue, channel: Channel): readonly Target[] {
  return [...models.values()].flatMap((model) =>
    model.targets.filter((target) => target.channel === channel),
  );
}

function testChannels(context: CommandContext): Promise<ExitReason> {
  return withWorkspace(context, async (workspace) => {
    const simulator = new LazySimulator();
    try {
      const { catalogue } = await workspaceCatalogue(workspace, () => simulator.origin());
      const targets = chooseTargets(context, catalogue);
      if (typeof targets === 'string') {
        printFailure(context.output, [targets]);
        return 'usage';
      }
      const options = {
        call: context.options['list'] === undefined,
        timeoutMs: workspace.settings.firstContentTimeoutMs,
      };
      const tests = await testTargets(workspace.settings, targets, options);
      printResult(context.output, { tests }, testsText(tests, context.output));
      return tests.every((test) => test.works) ? 'ok' : 'failed';
    } finally {
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
  const all = options['all'] !== undefined;
  const targets = asked.flatMap((channel) => (all ? pool(channel) : pool(channel).slice(0, 1)));
  return targets.length > 0 ? targets : 'there is no channel to test';
}

/** A channel works when it does with all its credentials: each of them is asked with. */
function withEachCredential({ channel: { credentials } }: Target): readonly (Credential | null)[] {
  return credentials.length === 0 ? [null] : credentials;
}

/** Asks each target with each credential of its channel: it works when it does with all of them. */
export async function testTargets(
  { connectTimeoutMs }: Settings,
  targets: readonly Target[],
  options: Parameters<typeof testChannel>[3],
): Promise<readonly ChannelTest[]> {
  const client = new HttpClient({ connectTimeoutMs });
  try {
    const upstream = openUpstream(client);
    const asked = targets.flatMap((target) =>
      withEachCredential(target).map((credential) => ({ target, credential })),
    );
    return await inTurns(asked, ({ target, credential }) =>
      testChannel(upstream, target, credential, options),
    );
  } finally {
    await client.close();
  }
}

/** Asked at once; more would run into limits of their own making. */
const testsAtOnce = 8;

/** The results in the order of what was asked. */
async function inTurns<Asked, Result>(
  all: readonly Asked[],
  ask: (one: Asked) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = [];
  for (let from = 0; from < all.length; from += testsAtOnce)
    results.push(...(await Promise.all(all.slice(from, from + testsAtOnce).map(ask))));
  return results;
}

const nameWidth = 24;

function testsText(tests: readonly ChannelTest[], output: CommandContext['output']): string {
  const titles = ['result', 'channel', 'model', right('status'), right('ms')];
  const rows = tests.map(({ channelId, model, works, status, durationMs }) => [
    works ? statusText('works', 'good', output.color) : statusText('fails', 'bad', output.color),
    cut(channelId, nameWidth),
    cut(model, nameWidth),
    status === null ? '–' : String(status),
    String(durationMs),
  ]);
  const notes = tests.map(({ works, credentialId, detail }) => {
    const whose = credentialId === null ? '' : `${credentialId}: `;
    return works ? null : `${whose}${detail}`;
  });
  const failed = tests.filter(({ works }) => !works).length;
  const sum = failed === 0 ? `All ${tests.length} work.` : `${failed} of ${tests.length} fail.`;
  return `${tableWithNotes(titles, rows, notes, output)}\n\n${sum}`;
}
