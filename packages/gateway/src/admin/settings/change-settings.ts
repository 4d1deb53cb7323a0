import { fail, type Result, succeed } from '@headgate/protocols';
import { fixedBecause, type Setting } from '../../config/setting.ts';
import { settingsTable } from '../../config/settings-table.ts';
import { didYouMean } from '../../config/suggestion.ts';
import type { Environment } from '../../config.ts';
import type { StoredSetting } from '../../ports/configuration-store.ts';
import type { Store } from '../../ports/store.ts';
import { type AuditedChange, type AuditTools, noting } from '../audit.ts';
import { sealingKeysFor } from '../credentials.ts';
import { sealAt } from '../secrets/sealed-secrets.ts';
import {
  type DeclaredSettings,
  declaredAbove,
  isSetting,
  type SettingLeftOut,
  settingPlace,
  wholeProblem,
  withConsole,
} from './layered-settings.ts';
import { isSecret } from './settings-report.ts';

export interface SettingTools extends AuditTools {
  readonly store: Pick<Store, 'audit' | 'configuration'>;
  /** The settings of flags, environment and file, which the console changes nothing of. */
  readonly declared: DeclaredSettings;
  readonly environment: Environment;
}

/** A setting that was named wrongly, or to a value that it does not take. */
export interface SettingMistake {
  readonly field: string;
  readonly message: string;
}

/** Why nothing was changed. */
export type SettingRefusal =
  | { readonly kind: 'invalid'; readonly mistakes: readonly SettingMistake[] }
  /** It is declared above the console, and changed there. */
  | { readonly kind: 'declared'; readonly mistake: SettingMistake };

/** The values of settings by their names; null gives one back to what holds where the console says nothing. */
export type SettingWishes = Readonly<Record<string, unknown>>;

/** A longer value is none of ours. */
const textLengthMax = 20_000;

/**
 * Makes settings in the console, all or none. Each is read as in a file, and all together must let a gateway start. Returns the names of
 * those that are other than before.
 */
export async function changeSettings(
  tools: SettingTools,
  wishes: SettingWishes,
): Promise<Result<readonly string[], SettingRefusal>> {
  const { configuration } = tools.store;
  const stored = await configuration.settings();
  const read = readWishes(tools, stored, wishes);
  if (!read.ok) return read;
  const sealed = await sealWishes(tools, stored, read.value);
  if (!sealed.ok) return sealed;
  const { put, removed } = sealed.value;
  const changed = [...put.map(({ name }) => name), ...removed];
  const problem = problemOfAll(tools, stored, sealed.value, changed);
  if (problem !== null) return fail({ kind: 'invalid', mistakes: [problem] });
  if (changed.length === 0) return succeed([]);
  const notes = changed.map((name) => noteOf(name, stored, put));
  await noting(tools, ...notes).configuration.putSettings(put, removed);
  return succeed(changed);
}

/** A value that was read; null takes away what the store has, be it known to this version or not. */
interface Wish {
  readonly name: string;
  readonly text: string | null;
}

function readWishes(
  { declared }: SettingTools,
  stored: readonly StoredSetting[],
  wishes: SettingWishes,
): Result<readonly Wish[], SettingRefusal> {
  const mistakes: SettingMistake[] = [];
  const read: Wish[] = [];
  for (const [name, value] of Object.entries(wishes)) {
    const above = isSetting(name) ? declaredAbove(declared, name) : undefined;
    if (above !== undefined && value !== null) {
      const message = `is declared at ${above.where}, which goes before the console: change it there`;
      return fail({ kind: 'declared', mistake: { field: name, message } });
    }
    const text = value === null && isKnown(name, stored) ? succeed(null) : readWish(name, value);
    if (text.ok) read.push({ name, text: text.value });
    else mistakes.push({ field: name, message: text.error });
  }
  return mistakes.length === 0 ? succeed(read) : fail({ kind: 'invalid', mistakes });
}

function isKnown(name: string, stored: readonly StoredSetting[]): boolean {
  return isSetting(name) || stored.some((each) => each.name === name);
}

function readWish(name: string, value: unknown): Result<string, string> {
  if (!isSetting(name))
    return fail(`there is no such setting${didYouMean(name, Object.keys(settingsTable))}`);
  const row: Setting<unknown> = settingsTable[name];
  if (row.changes !== 'now' && row.changes !== 'restart')
    return fail(`is not changed in the console: ${fixedBecause[row.changes]}`);
  const text = wishText(row, value);
  if (text === null) return fail(`is not ${row.accepts}`);
  const known = row.read(text);
  return known.ok ? succeed(text) : known;
}

/** The text that a value is read from; null where it can be none. */
function wishText({ placeholder }: Setting<unknown>, value: unknown): string | null {
  if (Array.isArray(value))
    return placeholder === 'JSON' ? bounded(JSON.stringify(value)) : bounded(value.map(String).join(','));
  return ['string', 'number', 'boolean'].includes(typeof value) ? bounded(String(value).trim()) : null;
}

function bounded(text: string): string | null {
  return text.length > textLengthMax ? null : text;
}

/** The rows of the store that a change writes, and the names of those that it takes away. */
interface SettingWrites {
  readonly put: readonly StoredSetting[];
  readonly removed: readonly string[];
}

/** Whatever is so already is left alone; a secret is always another one. */
async function sealWishes(
  { declared, nowMs, store }: SettingTools,
  stored: readonly StoredSetting[],
  wishes: readonly Wish[],
): Promise<Result<SettingWrites, SettingRefusal>> {
  const put: StoredSetting[] = [];
  const removed: string[] = [];
  for (const { name, text } of wishes) {
    const before = stored.find((each) => each.name === name);
    if (text === null) {
      if (before !== undefined) removed.push(name);
    } else if (!(isSetting(name) && isSecret(settingsTable[name]))) {
      if (before?.text !== text) put.push({ name, text, sealed: null, changedAtMs: nowMs });
    } else {
      const keys = sealingKeysFor(await store.configuration.load(), declared.settings.dataDir);
      if (!keys.ok) return fail({ kind: 'invalid', mistakes: [{ field: name, message: keys.error }] });
      const sealed = sealAt(keys.value, settingPlace(name), text);
      put.push({ name, text: null, sealed, changedAtMs: nowMs });
    }
  }
  return succeed({ put, removed });
}

/** The mistake by which a next start would leave out more than it does now, or not go well at all. */
function problemOfAll(
  { declared, environment }: SettingTools,
  stored: readonly StoredSetting[],
  { put }: SettingWrites,
  changed: readonly string[],
): SettingMistake | null {
  const [first] = changed;
  if (first === undefined) return null;
  const kept = stored.filter(({ name }) => !changed.includes(name));
  const before = withConsole(declared, stored, environment);
  const { settings, leftOut } = withConsole(declared, [...kept, ...put], environment);
  const isNews = ({ name }: SettingLeftOut) =>
    changed.includes(name) || !before.leftOut.some((each) => each.name === name);
  const refused = leftOut.find(isNews);
  if (refused !== undefined) {
    const { name, reason } = refused;
    return changed.includes(name)
      ? { field: name, message: reason }
      : { field: first, message: `is needed: ${name} ${reason}` };
  }
  const whole = wholeProblem(settings, environment);
  // A command may lack some of what the gateway is started with: a problem from before is not one of this change.
  if (whole?.message === wholeProblem(before.settings, environment)?.message) return null;
  return whole === null ? null : { field: first, message: `is needed: ${whole.where} ${whole.message}` };
}

function noteOf(
  name: string,
  stored: readonly StoredSetting[],
  put: readonly StoredSetting[],
): AuditedChange {
  return {
    action: 'setting.change',
    target: { kind: 'setting', id: name },
    accountId: null,
    before: sideOf(stored.find((each) => each.name === name)),
    after: sideOf(put.find((each) => each.name === name)),
  };
}

/** A secret is noted as being there. */
function sideOf(setting: StoredSetting | undefined) {
  if (setting === undefined) return { value: null };
  return setting.sealed === null ? { value: setting.text } : { value: '(sealed)' };
}
