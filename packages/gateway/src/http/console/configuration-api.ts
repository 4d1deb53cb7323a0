import { z } from 'zod';
import { declaredPlace } from '../../admin/declared-place.ts';
import { declaredPlaceView, declaredSections } from './contract/configuration.ts';
import { answer, problem } from './frame/answer.ts';
import type { ConsoleApi } from './frame/console-api.ts';

/** The source of the answers. */
export interface ConfigurationSources {
  /** The configuration file; null where none was given to this start. */
  readonly settingsFile: string | null;
}

const section = z.enum(declaredSections);

/** The file that declares what is read-only in the console. */
export function configurationApi(api: ConsoleApi, { settingsFile }: ConfigurationSources): void {
  api.route(
    {
      ...{ method: 'get', access: 'operator', tag: 'Settings', answer: declaredPlaceView },
      path: '/declared-places/{section}/{id}',
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
