import { loadCatalogue } from '../admin/catalogue-load.ts';
import type { BuiltCatalogue } from '../core/catalogue-build.ts';
import type { CommandContext } from './command.ts';
import type { Workspace } from './workspace.ts';

/** Stands in for the address of a simulator that a listing has no need to start. */
export const builtIn = 'http://built-in.invalid';

/** The catalogue as a gateway on this data directory would build it. `simulator` tells the address of one, if one is needed. */
export function workspaceCatalogue(
  { store, catalogueFiles, clock }: Workspace,
  { environment }: CommandContext,
  simulator: () => Promise<string> = () => Promise.resolve(builtIn),
): Promise<BuiltCatalogue> {
  return loadCatalogue({
    store: store.configuration,
    catalogueFiles,
    environment,
    clock,
    variable: (name) => (name === 'simulator' ? simulator() : Promise.resolve(null)),
  });
}
