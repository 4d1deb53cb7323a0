import type { Model, ServedModel, ServedNames, Target } from './catalogue.ts';

/** The parts of a model's name that do not tell it from another: the word before it, and the date of its version. */
export const unsaid = /^models\/|[-@]20\d{2}-?(?:0[1-9]|1[0-2])-?(?:0[1-9]|[12]\d|3[01])$/g;

/**
 * The models that answers of each channel may name, by its id: by the names that its upstream has for them in lower case, and by those
 * without what is unsaid. One may stand under several public ids: then it is the one that is spelt like it, else the first by its
 * letters, so that no order of declaration decides a price.
 */
export function servedByChannel(models: Iterable<Model>): ReadonlyMap<string, ServedNames> {
  const channels = new Map<string, Map<string, ServedModel>>();
  const all = [...models].sort((a, b) => (a.id < b.id ? -1 : 1));
  const served = all.flatMap((model) => model.targets.map((target) => ({ model, target })));
  const isOwnName = ({ model, target }: ServedModel) => model.id === target.upstreamModel;
  for (const each of [...served.filter(isOwnName), ...served]) {
    const { channel, upstreamModel } = each.target;
    const names = channels.get(channel.id) ?? new Map<string, ServedModel>();
    channels.set(channel.id, names);
    const name = upstreamModel.toLowerCase();
    for (const key of [name, name.replace(unsaid, '')]) if (!names.has(key)) names.set(key, each);
  }
  return channels;
}

/**
 * Finds the model that an answer says has served it, where that is another one than was asked; null where it is the same, a dated
 * version of the same, or none that the channel is known to have.
 */
export function servedInstead(names: ServedNames, target: Target, said: string): ServedModel | null {
  const name = said.toLowerCase();
  const bare = name.replace(unsaid, '');
  if (bare === target.upstreamModel.toLowerCase().replace(unsaid, '')) return null;
  const found = names.get(name) ?? names.get(bare);
  return found === undefined || found.target.upstreamModel === target.upstreamModel ? null : found;
}
