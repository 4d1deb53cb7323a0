import { stringify } from 'yaml';
import {
  accountFields,
  type DeclaredAccount,
  type DeclaredGroup,
  type DeclaredKey,
  groupFields,
  keyFields,
  routingFields,
} from '../catalogue/entities.ts';
import { exported } from '../catalogue/fields.ts';

/** A key as a file would declare it. Neither its secret nor its hash is told: the file names a variable that whoever has the secret sets. */
export function keyDeclaration(key: Omit<DeclaredKey, 'hash'>): string {
  const variable = `HEADGATE_KEY_${key.id.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_')}`;
  const members = { ...exported(keyFields, key.id, key), secret: { environment: variable } };
  return stringify({ keys: { [key.id]: members } });
}

export function accountDeclaration(account: DeclaredAccount): string {
  return stringify({ accounts: { [account.id]: exported(accountFields, account.id, account) } });
}

export function groupDeclaration(group: DeclaredGroup): string {
  const routing = exported(routingFields, group.id, group.routing);
  const members = exported(groupFields, group.id, group);
  const routed = Object.keys(routing).length === 0 ? {} : { routing };
  return stringify({ groups: { [group.id]: { ...members, ...routed } } });
}
