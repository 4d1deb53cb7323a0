import type { Caller, Catalogue } from '../catalogue/catalogue.ts';

export type FindKey = (id: string) => { readonly name: string; readonly accountId: string } | null;

/** Finds the name and the account of a key by its id, in a map that is made once for each catalogue. */
export function keyFinder(catalogue: { readonly current: Catalogue }): FindKey {
  let known: { readonly of: Catalogue; readonly keys: ReadonlyMap<string, Caller> } | null = null;
  return (id) => {
    const { current } = catalogue;
    if (known?.of !== current) {
      const callers = [...current.keys.values()].map(({ caller }) => [caller.keyId, caller] as const);
      known = { of: current, keys: new Map(callers) };
    }
    const caller = known.keys.get(id);
    return caller === undefined ? null : { name: caller.keyName, accountId: caller.accountId };
  };
}
