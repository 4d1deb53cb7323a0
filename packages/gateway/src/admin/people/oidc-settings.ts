import { readFileSync } from 'node:fs';
import { fail, type Result, succeed } from '@headgate/protocols';
import { settingsTable } from '../../config/settings-table.ts';
import type { ConfigurationProblem } from '../../config/yaml-source.ts';
import type { Settings } from '../../config.ts';
import { readSecretText } from '../secrets/secret-text.ts';
import type { OidcSettings } from './oidc.ts';

/** The names that the settings go by in the file, for whoever has to mend them. */
const written = (name: keyof typeof settingsTable) =>
  settingsTable[name].yaml ?? settingsTable[name].environment;

/** The provider that people may sign in at; null where none is configured. What is half there is a problem, not a provider. */
export function readOidcSettings(
  settings: Settings,
): Result<OidcSettings | null, readonly ConfigurationProblem[]> {
  const { oidcIssuer: issuer, oidcClientId: clientId, consoleOrigin } = settings;
  const { oidcRoleClaim: roleClaim, oidcRoles: roleRules, oidcAllowPrivate: allowPrivate } = settings;
  if (issuer === null) {
    return clientId === null
      ? succeed(null)
      : problem('oidcClientId', `needs ${written('oidcIssuer')} beside it`);
  }
  if (clientId === null) return problem('oidcIssuer', `needs ${written('oidcClientId')} beside it`);
  if (consoleOrigin === null)
    return problem(
      'oidcIssuer',
      `needs ${written('consoleOrigin')}: the provider sends people back there and nowhere else`,
    );
  if (!issuer.startsWith('https:') && !allowPrivate)
    return problem('oidcIssuer', `must be https, unless ${written('oidcAllowPrivate')} is true`);
  if ((roleClaim === null) !== (roleRules.length === 0))
    return problem('oidcRoles', `means something only together with ${written('oidcRoleClaim')}`);
  const secret = readClientSecret(settings);
  if (!secret.ok) return problem('oidcClientSecretFile', secret.error);
  return succeed({
    ...{ issuer, clientId, clientSecret: secret.value, name: settings.oidcName },
    ...{ allowPrivate, roleClaim, roleRules },
  });
}

function readClientSecret(settings: Settings): Result<string | null, string> {
  const { oidcClientSecret: given, oidcClientSecretFile: path } = settings;
  if (given !== null || path === null) return succeed(given);
  try {
    const secret = readSecretText(readFileSync(path, 'utf8'));
    return secret.ok ? secret : fail(`names a file that ${secret.error}`);
  } catch {
    return fail('names a file that cannot be read');
  }
}

function problem(
  name: keyof typeof settingsTable,
  message: string,
): Result<never, readonly ConfigurationProblem[]> {
  return fail([{ where: written(name), path: '', message }]);
}
