import { type Result, succeed } from '@headgate/protocols';
import type { ConfigurationProblem } from '../../config/yaml-source.ts';
import type { Settings } from '../../config.ts';
import type { Clock } from '../../ports/clock.ts';
import type { AskWeb } from '../../ports/web.ts';
import { type Peppers, settingsPeppers } from '../owner-files.ts';
import { type OidcSettings, OidcSignIn } from './oidc.ts';
import { readOidcSettings } from './oidc-settings.ts';
import { openPeople } from './open-people.ts';
import { SecondFactors } from './second-factors.ts';
import { secondStepOf } from './stronger-sign-in.ts';
import type { StrongerTools } from './stronger-tools.ts';
import { Tickets } from './tickets.ts';

/** The settings that signing in takes, read before anything listens. */
export interface SignInSettings {
  readonly peppers: Peppers;
  readonly oidc: OidcSettings | null;
}

export function readSignInSettings(
  settings: Settings,
): Result<SignInSettings, readonly ConfigurationProblem[]> {
  const peppers = settingsPeppers(settings);
  if (!peppers.ok) return peppers;
  const oidc = readOidcSettings(settings);
  return oidc.ok ? succeed({ peppers: peppers.value, oidc: oidc.value }) : oidc;
}

export interface StrongerParts {
  readonly store: StrongerTools['store'];
  readonly settings: Pick<Settings, 'dataDir' | 'deploymentName' | 'consoleOrigin'>;
  readonly signIn: SignInSettings;
  readonly askWeb: AskWeb;
  readonly operatorToken: string;
  readonly clock: Clock;
  /** The place that the console listens on, once it does. */
  readonly listening: { readonly consoleOrigin: string };
}

/** The path below the console's origin that a provider sends people back to. */
const providerCallback = '/api/v1/session/provider/callback';

/** Puts together all that signing in takes. */
export function openStronger(parts: StrongerParts): StrongerTools {
  const { store, settings, signIn, askWeb, operatorToken, clock, listening } = parts;
  const { dataDir, consoleOrigin } = settings;
  // Its name may change while it runs.
  const deployment = () => settings.deploymentName;
  const { peppers, oidc } = signIn;
  const secondFactors = new SecondFactors({ store, peppers, dataDir, deployment, clock });
  const tickets = new Tickets(peppers[0], clock);
  const redirectUri = `${consoleOrigin ?? ''}${providerCallback}`;
  return {
    ...{ ...openPeople(store, operatorToken, clock.now), store },
    ...{ peppers, tickets, secondFactors, deployment },
    provider: oidc === null ? null : new OidcSignIn(oidc, { askWeb, clock, redirectUri }),
    secondStep: (person) => secondStepOf({ secondFactors, tickets }, person),
    origin: () => consoleOrigin ?? namedOrigin(listening.consoleOrigin),
  };
}

/** This machine under the name that browsers make passkeys for. */
export function namedOrigin(listening: string): string {
  return listening.replace(/\/\/(?:127\.0\.0\.1|0\.0\.0\.0|\[::1?\]):/, '//localhost:');
}
