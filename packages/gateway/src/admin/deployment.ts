import { join } from 'node:path';
import type { Settings } from '../config.ts';
import type { PublicDeployment, PublicSibling } from '../ports/status.ts';

/** The deployment as people are told of it. */
export interface Deployment {
  readonly name: string;
  readonly apiOrigin: string;
  readonly consoleOrigin: string;
  readonly language: 'en' | 'zh-CN';
  /** Amounts are USD; they are shown in this currency, of which one USD is so many units. */
  readonly currency: { readonly code: string; readonly perUsd: string };
  readonly siblings: readonly PublicSibling[];
}

/** `listening`: where the ports are reached when nobody says another origin. */
export function deploymentOf(
  settings: Settings,
  listening: { readonly apiOrigin: string; readonly consoleOrigin: string },
): Deployment {
  return {
    name: settings.deploymentName,
    apiOrigin: settings.apiOrigin ?? listening.apiOrigin,
    consoleOrigin: settings.consoleOrigin ?? listening.consoleOrigin,
    language: settings.language,
    currency: {
      code: settings.currency,
      perUsd: settings.currency === 'USD' ? '1' : settings.currencyPerUsd,
    },
    siblings: settings.siblings.map(({ name, consoleOrigin, language, region }) => ({
      ...{ name, consoleOrigin },
      ...{ language: language ?? null, region: region ?? null },
    })),
  };
}

/** Nothing of it but what the status page names. */
export function publicDeployment(
  { name, consoleOrigin, language, siblings }: Deployment,
  isSimulated: boolean,
): PublicDeployment {
  return { name, consoleOrigin, language, siblings, isSimulated };
}

/** The directory that the files of the status page are written to; null where none are. */
export function statusDirectory({ statusDirectory: given, dataDir }: Settings): string | null {
  if (given === 'none') return null;
  return given ?? join(dataDir, 'public');
}
