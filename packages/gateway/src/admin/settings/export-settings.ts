import { settingsTable } from '../../config/settings-table.ts';
import type { StoredSetting } from '../../ports/configuration-store.ts';
import { isSetting } from './layered-settings.ts';

/** A member of a configuration file, with those below it. */
interface ExportedMembers {
  [name: string]: unknown;
}

/**
 * The settings of the console as the members of a configuration file, each with the text that it was made with. Secrets are left out, and
 * so is what this version could not read again.
 */
export function exportSettings(stored: readonly StoredSetting[]): readonly ExportedMembers[] {
  const roots: ExportedMembers = {};
  for (const { name, text } of stored) {
    if (!isSetting(name) || text === null) continue;
    const { yaml, read, placeholder } = settingsTable[name];
    if (yaml === null || !read(text).ok) continue;
    putAt(roots, yaml.split('.'), placeholder === 'JSON' ? (JSON.parse(text) as unknown) : text);
  }
  return Object.entries(roots).map(([name, members]) => ({ [name]: members }));
}

function putAt(members: ExportedMembers, [first = '', ...rest]: readonly string[], value: unknown): void {
  if (rest.length === 0) {
    members[first] = value;
    return;
  }
  const below = (members[first] ?? {}) as ExportedMembers;
  members[first] = below;
  putAt(below, rest, value);
}
