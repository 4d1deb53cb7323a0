import { includes } from '../../admin/people/actor.ts';
import { type RateReading, rateStandings } from '../../admin/rate-standings.ts';
import type { KeyDirectory } from '../../ports/key-directory.ts';
import { ratesView } from './contract/owners.ts';
import { answer } from './frame/answer.ts';
import type { ConsoleApi } from './frame/console-api.ts';
import { notThere } from './owner-problems.ts';

/** The source of the answers. */
export interface RateSources {
  readonly rates: RateReading & { readonly keys: Pick<KeyDirectory, 'choices' | 'find' | 'rates'> };
}

/** The routes of rate limits stand apart from their owners: they cost little, and an open page asks them every few seconds. */
export function ratesApi(api: ConsoleApi, { rates }: RateSources): void {
  const { keys } = rates;
  const one = { method: 'get', answer: ratesView } as const;
  api.route(
    {
      ...{ ...one, path: '/keys/{id}/rates', access: 'viewer', tag: 'Keys' },
      summary: 'Rate limits of a key, with what is taken of them now',
    },
    async ({ params: { id }, scope }) => {
      const key = await keys.find(scope, id);
      if (key === null) return notThere(`There is no key "${id}".`);
      return answer({ rates: [...(await rateStandings(rates, `key:${id}`, key.limits))] });
    },
  );
  api.route(
    {
      ...{ ...one, path: '/accounts/{id}/rates', access: 'viewer', tag: 'Accounts' },
      summary: 'Rate limits of an account, with what is taken of them now',
    },
    async ({ params: { id }, scope }) => {
      const { accounts } = await keys.choices(includes(scope, id) ? [id] : []);
      const [account] = accounts;
      if (account === undefined) return notThere(`There is no account "${id}".`);
      return answer({ rates: [...(await rateStandings(rates, `account:${id}`, account.limits))] });
    },
  );
  api.route(
    {
      ...{ ...one, path: '/groups/{id}/rates', access: 'operator', tag: 'Groups' },
      summary: 'Rate limits of a group, with what is taken of them now',
    },
    async ({ params: { id } }) => {
      const { groups } = await keys.choices([]);
      const group = groups.find((each) => each.id === id);
      if (group === undefined) return notThere(`There is no group "${id}".`);
      return answer({ rates: [...(await rateStandings(rates, `group:${id}`, group.limits))] });
    },
  );
}
