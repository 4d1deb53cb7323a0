import type { PrivateNames } from '@headgate/protocols';
import type { Model, Target } from '../../catalogue.ts';

/** What an upstream may say of a target that is no caller's to know, and what is said instead. */
export function privateNamesOf({ channel, upstreamModel }: Target, model: Model): PrivateNames {
  const names = new Map([
    [upstreamModel, model.id],
    [channel.provider.name, 'the provider'],
    [hostOf(channel.baseUrl), '[address]'],
  ]);
  for (const { secret } of channel.credentials) names.set(secret, '[key]');
  return names;
}

/** With its port; without scheme and path. */
function hostOf(baseUrl: string): string {
  return baseUrl.replace(/^[a-z]+:\/\//i, '').replace(/[/?#].*$/, '');
}
