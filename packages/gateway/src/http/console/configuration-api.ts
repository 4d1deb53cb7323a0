import { setImmediate as nextTurn } from 'node:timers/promises';
import { z } from 'zod';
import { declaredPlace } from '../../admin/declared-place.ts';
import { exportPieces } from '../../admin/export-configuration.ts';
import { keyHashes } from '../../admin/keys.ts';
import type { Peppers } from '../../admin/owner-files.ts';
import type { ConfigurationStore } from '../../ports/configuration-store.ts';
import { declaredPlaceView, declaredSections } from './contract/configuration.ts';
import { declarationView } from './contract/keys.ts';
import { answer, problem } from './frame/answer.ts';
import type { ConsoleApi } from './frame/console-api.ts';

/** The source of the answers. */
export interface ConfigurationSources {
  readonly configured: {
    readonly store: Pick<ConfigurationStore, 'load'>;
    readonly peppers: Peppers;
    now(): number;
  };
  readonly settingsFile: string | null;
}

/** Pieces that are made in one turn of the event loop: less than a millisecond. */
const piecesPerTurn = 4;

const section = z.enum(declaredSections);

/** All that is configured, as text, and where a file says it. */
export function configurationApi(api: ConsoleApi, { configured, settingsFile }: ConfigurationSources): void {
  const common = { access: 'operator', tag: 'Configuration', method: 'get' } as const;
  api.route(
    {
      ...{ ...common, path: '/configuration', fresh: true, answer: declarationView },
      summary: 'Everything that is configured as a configuration file, keys as hashes',
    },
    async () => {
      const { store, peppers, now } = configured;
      const stored = await store.load();
      let yaml = '';
      let pieces = 0;
      for (const piece of exportPieces(stored, keyHashes(peppers).fingerprints, now())) {
        yaml += piece;
        if (++pieces % piecesPerTurn === 0) await nextTurn();
      }
      return answer({ yaml });
    },
  );
  api.route(
    {
      ...{ ...common, path: '/declared-places/{section}/{id}', answer: declaredPlaceView },
      summary: 'The line of the configuration file that declares something',
    },
    async ({ params }) => {
      const named = section.safeParse(params.section);
      if (!named.success) return problem('not_found', `There is no section "${params.section}".`);
      if (settingsFile === null) return answer({ file: null, line: null });
      return answer(await declaredPlace(settingsFile, named.data, params.id));
    },
  );
}
