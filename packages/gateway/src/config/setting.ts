import { fail, type Result, succeed } from '@headgate/protocols';
import { addressRanges } from '../catalogue/address-range.ts';
import { isProxyUrl } from '../catalogue/channel-way.ts';
import { readMeasure, timeUnits, type Units } from '../catalogue/duration.ts';
import { type RoleRule, readRoleRules } from '../catalogue/role-rules.ts';

export type SettingSection =
  | 'Deployment'
  | 'Addresses'
  | 'Sign-in'
  | 'Files'
  | 'Limits'
  | 'Time-outs'
  | 'Upstreams'
  | 'Status'
  | 'Ledger'
  | 'Logs'
  | 'Secrets';

/** How the text of a setting is read, and what help says of it. */
export interface SettingForm<Value> {
  /** The default as a person would write it; shown in help and documentation. */
  readonly defaultText: string;
  readonly defaultValue: Value;
  /** Says in help what may be written: `a number from 1 to 10`. */
  readonly accepts: string;
  /** Stands for the value in help: `N`, `SIZE`, `json|pretty`. */
  readonly placeholder: string;
  /** The values that there are, where they are few. */
  readonly options?: readonly string[];
  /** Flags without a value (`--demo`, `--no-demo`). */
  readonly isSwitch: boolean;
  /** Reads the text of a flag, a variable or a YAML scalar. The error says what was wrong with it. */
  read(text: string): Result<Value, string>;
}

/** Why some settings are not made in the console, by a word for each. */
export const fixedBecause = {
  address: 'it says where the gateway listens; a wrong one would lock everybody out of the console',
  path: 'it names a place on the machine, which is for whoever may write there',
  'first-start': 'it means something in a first start alone',
  process: 'the process needs it before its store is open',
} as const;

/** When a change that is made in the console comes into force: at once, with the next start, or never, and why. */
export type SettingChange = 'now' | 'restart' | keyof typeof fixedBecause;

/** A row of the settings table as it is written there; `yaml` is the member below the root of its section. */
export interface Given<Value> extends SettingForm<Value> {
  readonly yaml: string | null;
  readonly help: string;
  readonly changes: SettingChange;
}

export function given<Value>(
  yaml: string | null,
  help: string,
  form: SettingForm<Value>,
  changes: SettingChange = 'restart',
): Given<Value> {
  return { ...form, yaml, help, changes };
}

/** A setting with its meaning and the ways in which it can be given. `null` closes that way in. */
export interface Setting<Value> extends Given<Value> {
  readonly section: SettingSection;
  /** Without the leading dashes. */
  readonly flag: string | null;
  readonly environment: string;
}

interface Bounds {
  readonly min: number;
  readonly max: number;
}

function setting<Value>(
  defaultText: string,
  defaultValue: Value,
  accepts: string,
  placeholder: string,
  read: (text: string) => Result<Value, string>,
): SettingForm<Value> {
  return { defaultText, defaultValue, accepts, placeholder, isSwitch: false, read };
}

export function integer(defaultValue: number, min: number, max: number): SettingForm<number> {
  const accepts = `a whole number from ${min} to ${max}`;
  return setting(String(defaultValue), defaultValue, accepts, 'N', (text) =>
    /^\d{1,15}$/.test(text) ? within(Number(text), { min, max }, accepts) : fail(`is not ${accepts}`),
  );
}

const sizes: Units = { B: 1, KiB: 1_024, MiB: 1_048_576, GiB: 1_073_741_824 };

/** Milliseconds, written with a unit: `500ms`, `30s`, `10m`, `2h`. */
export function duration(defaultText: string, min: string, max: string): SettingForm<number> {
  return measure(timeUnits, 'a duration such as 500ms, 30s or 10m', 'TIME', defaultText, min, max);
}

/** Bytes, written with a unit: `16KiB`, `32MiB`. */
export function size(defaultText: string, min: string, max: string): SettingForm<number> {
  return measure(sizes, 'a size such as 16KiB or 32MiB', 'SIZE', defaultText, min, max);
}

function measure(
  units: Units,
  what: string,
  placeholder: string,
  defaultText: string,
  min: string,
  max: string,
): SettingForm<number> {
  const accepts = `${what}, from ${min} to ${max}`;
  const measured = (text: string): number => {
    const value = readMeasure(units, text);
    // A wrong literal of the table is a bug.
    if (value === null) throw new Error(`not ${what}: ${text}`);
    return value;
  };
  const bounds = { min: measured(min), max: measured(max) };
  return setting(defaultText, measured(defaultText), accepts, placeholder, (text) => {
    const value = readMeasure(units, text);
    return value === null ? fail(`is not ${accepts}`) : within(value, bounds, accepts);
  });
}

function within(value: number, { min, max }: Bounds, accepts: string): Result<number, string> {
  return value < min || value > max ? fail(`is outside ${accepts}`) : succeed(value);
}

export function choice<const Option extends string>(
  options: readonly Option[],
  defaultValue: NoInfer<Option>,
): SettingForm<Option> {
  const accepts = `one of ${options.join(', ')}`;
  const form = setting<Option>(defaultValue, defaultValue, accepts, options.join('|'), (text) => {
    const found = options.find((option) => option === text);
    return found === undefined ? fail(`is not ${accepts}`) : succeed(found);
  });
  return { ...form, options };
}

export function toggle(defaultValue: boolean): SettingForm<boolean> {
  const read = (text: string): Result<boolean, string> => {
    if (text === 'true' || text === '1') return succeed(true);
    if (text === 'false' || text === '0') return succeed(false);
    return fail('is not true or false');
  };
  return { ...setting(String(defaultValue), defaultValue, 'true or false', '', read), isSwitch: true };
}

export function text(defaultValue: string, accepts: string, placeholder: string): SettingForm<string> {
  return setting(defaultValue, defaultValue, accepts, placeholder, (given) =>
    given === '' ? fail('is empty') : succeed(given),
  );
}

export function currencyCode(defaultValue: string): SettingForm<string> {
  const accepts = 'a currency code of three capital letters, such as USD or CNY';
  return setting(defaultValue, defaultValue, accepts, 'CODE', (given) =>
    /^[A-Z]{3}$/.test(given) ? succeed(given) : fail(`is not ${accepts}`),
  );
}

/** A decimal that stays the text that it was written as. */
export function exactRate(defaultValue: string): SettingForm<string> {
  const accepts = 'a positive decimal such as 7.12';
  return setting(defaultValue, defaultValue, accepts, 'RATE', (given) =>
    /^\d{1,9}(\.\d{1,9})?$/.test(given) && /[1-9]/.test(given) ? succeed(given) : fail(`is not ${accepts}`),
  );
}

/** Text that is absent by default. `unset` says what then happens. */
export function optionalText(
  unset: string,
  accepts: string,
  placeholder: string,
): SettingForm<string | null> {
  return setting<string | null>(unset, null, accepts, placeholder, (given) =>
    given === '' ? fail('is empty') : succeed(given),
  );
}

/** Scheme, host and port without a path: `https://api.example.com`. */
export function origin(unset: string): SettingForm<string | null> {
  const accepts = 'an origin such as https://api.example.com';
  return setting<string | null>(unset, null, accepts, 'ORIGIN', (given) => {
    const found = readOrigin(given);
    return found === null ? fail(`is not ${accepts}`) : succeed(found);
  });
}

export function origins(unset: string): SettingForm<readonly string[]> {
  const accepts = 'origins such as https://app.example.com, separated by commas';
  return setting<readonly string[]>(unset, [], accepts, 'ORIGINS', (given) => {
    const found = given.split(',').map((part) => readOrigin(part.trim()));
    const valid = found.filter((part) => part !== null);
    return valid.length === found.length ? succeed(valid) : fail(`is not a list of ${accepts}`);
  });
}

/** Addresses and ranges of them. */
export function ranges(unset: string): SettingForm<readonly string[]> {
  const accepts = 'addresses and ranges such as 10.0.0.0/8, separated by commas';
  return setting<readonly string[]>(unset, [], accepts, 'RANGES', (given) => {
    const found = given.split(',').map((part) => part.trim());
    return addressRanges.safeParse(found).success ? succeed(found) : fail(`is not a list of ${accepts}`);
  });
}

function readOrigin(given: string): string | null {
  const url = URL.parse(given);
  if (url === null || !/^https?:$/.test(url.protocol)) return null;
  return url.pathname === '/' && url.search === '' && url.username === '' ? url.origin : null;
}

/** How connections go where a channel says nothing: through this proxy, through those that the environment names, or directly. */
export type UsualProxy = 'none' | 'environment' | { readonly url: string };

export function proxyForm(): SettingForm<UsualProxy> {
  const accepts = 'none, environment, or a URL such as http://proxy.example:3128 without user';
  return setting<UsualProxy>('none', 'none', accepts, 'URL', (given) => {
    if (given === 'none' || given === 'environment') return succeed(given);
    return isProxyUrl(given) ? succeed({ url: given }) : fail(`is not ${accepts}`);
  });
}

/** Rights that follow from a claim: `headgate-admins=operator, research=member:lab`. */
export function roleRules(): SettingForm<readonly RoleRule[]> {
  const accepts = 'rules such as gateway-admins=operator, research=member:lab';
  return setting<readonly RoleRule[]>('none', [], accepts, 'RULES', readRoleRules);
}

/** An address that people and programs reach with a path, without query or user: `https://login.example.com/realms/one`. */
export function issuer(unset: string): SettingForm<string | null> {
  const accepts = 'the address of a provider such as https://login.example.com';
  return setting<string | null>(unset, null, accepts, 'URL', (given) => {
    const url = URL.parse(given);
    const isIssuer =
      url !== null && /^https?:$/.test(url.protocol) && url.search + url.hash + url.username === '';
    return isIssuer ? succeed(given) : fail(`is not ${accepts}`);
  });
}
