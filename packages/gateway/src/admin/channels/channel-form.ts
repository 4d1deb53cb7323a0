import { fail, type Result, succeed } from '@headgate/protocols';
import type { DeclaredChannel } from '../../catalogue/entities.ts';
import { type ChannelShape, channelShape } from '../../config/channel-shape.ts';
import { shapeProblems } from '../../config/configuration-file.ts';
import { plainSource } from '../../config/plain-source.ts';
import type { ConfigurationProblem } from '../../config/yaml-source.ts';
import type { ChannelWish, StoredConfiguration } from '../../ports/configuration-store.ts';
import type { CatalogueFiles } from '../catalogue-files.ts';
import { declareChannels } from '../declare/declare-channels.ts';
import { describeModel } from '../declare/declare-models.ts';
import { declareProviders } from '../declare/declaring.ts';
import { exportChannel, providerMembers } from '../export-configuration.ts';
import { type FieldMistake, fieldsOf } from '../piecewise.ts';

/** The facts that a channel is held against. */
export interface FormTools {
  readonly stored: Pick<StoredConfiguration, 'providers' | 'models'>;
  readonly catalogue: CatalogueFiles;
  readonly nowMs: number;
}

/** A channel as the configuration file writes it under `channels`: the console speaks the same language. */
export function formOf(channel: DeclaredChannel): object {
  const { id: _, ...form } = exportChannel(channel);
  return form;
}

/** Reads a channel written as in a configuration file. Every member that is wrong is named. */
export function readForm(
  id: string,
  form: unknown,
  tools: FormTools,
): Result<ChannelWish, readonly FieldMistake[]> {
  const source = plainSource(form, () => '');
  const read = channelShape.safeParse(form);
  if (!read.success) return fail(fieldsOf(shapeProblems(source, channelShape, read.error), ''));
  return declareForm(id, read.data, tools);
}

function declareForm(
  id: string,
  shape: ChannelShape,
  { stored, catalogue, nowMs }: FormTools,
): Result<ChannelWish, readonly FieldMistake[]> {
  const documents = Object.entries(stored.providers).map(
    ([name, json]) => [name, providerMembers(json)] as const,
  );
  const providers: Readonly<Record<string, object>> = Object.fromEntries(documents);
  const plain = { providers, channels: { [id]: shape } };
  const file = { name: '', text: '', shape: plain, source: plainSource(plain, () => '') };
  const declaring = { file, tools: { catalogue, nowMs }, problems: [] as ConfigurationProblem[] };
  const [channel] = declareChannels(declaring, declareProviders(declaring));
  if (declaring.problems.length > 0 || channel === undefined)
    return fail(fieldsOf(declaring.problems, `channels.${id}`));
  const known = new Set(stored.models.map((model) => model.id));
  const models = channel.models
    .filter(({ modelId }) => !known.has(modelId))
    .map(({ modelId }) => describeModel(modelId, {}, catalogue, nowMs));
  return succeed({ channel, models });
}
