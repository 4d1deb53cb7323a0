import { fail, type Result, succeed } from '@headgate/protocols';
import type { ConfigurationFile } from '../../config/configuration-file.ts';
import type { ConfigurationProblem } from '../../config/yaml-source.ts';
import type { Declaration } from '../../ports/configuration-store.ts';
import { declareChannels } from './declare-channels.ts';
import { refuseRoughDiscounts } from './declare-discounts.ts';
import { declareAccounts, declareGroups, declareKeys } from './declare-groups.ts';
import { declareModels } from './declare-models.ts';
import { declareWebhooks } from './declare-webhooks.ts';
import { type DeclareTools, type Declaring, declareProviders } from './declaring.ts';

/** Turns a configuration file into what it declares. Everything it refers to must exist; all that does not is reported at once. */
export function declareFile(
  file: ConfigurationFile,
  tools: DeclareTools,
): Result<Declaration, readonly ConfigurationProblem[]> {
  const declaring: Declaring = { file, tools, problems: [] };
  const providers = declareProviders(declaring);
  const channels = declareChannels(declaring, providers);
  const models = declareModels(declaring, channels);
  const modelIds = models.map((model) => model.id);
  const accounts = declareAccounts(declaring, modelIds);
  const groups = declareGroups(declaring, modelIds, Object.keys(file.shape.channels ?? {}));
  const keys = declareKeys(declaring, ids(groups), ids(accounts), modelIds);
  refuseRoughDiscounts(declaring, keys, groups, accounts);
  const webhooks = declareWebhooks(declaring);
  if (declaring.problems.length > 0) return fail(declaring.problems);
  return succeed({
    providers: documents(providers.declared),
    accounts,
    groups,
    models,
    channels,
    keys,
    webhooks,
  });
}

function ids(rows: readonly { readonly id: string }[]): readonly string[] {
  return rows.map((row) => row.id);
}

function documents(providers: ReadonlyMap<string, object>): Readonly<Record<string, string>> {
  return Object.fromEntries([...providers].map(([id, document]) => [id, JSON.stringify(document)]));
}
