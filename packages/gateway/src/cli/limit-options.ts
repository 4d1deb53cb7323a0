import type { AccountRefusal } from '../admin/accounts.ts';
import type { LimitMistake } from '../catalogue/limit-fields.ts';
import type { OwnerKind } from '../catalogue/limits.ts';
import { readYaml } from '../config/yaml-source.ts';
import { type CommandContext, type CommandOption, type ExitReason, printFailure } from './command.ts';

/** The member that each option sets, and how it is shown. */
interface LimitOption extends CommandOption {
  readonly member: readonly string[];
  /** A whole number, which counts for one model where `--model` names it. */
  readonly isRate?: true;
  /** The value that it sets; else it is given one. */
  readonly value?: boolean;
}

const budget = (span: string, help: string): LimitOption => ({
  placeholder: 'USD',
  help,
  member: ['budgets', span],
});
const rate = (member: string, help: string): LimitOption => ({
  placeholder: 'N',
  help,
  member: ['limits', member],
  isRate: true,
});

const keyOptions: Readonly<Record<string, LimitOption>> = {
  day: budget('day', 'What may be spent in a calendar day, such as 12.50; none for no limit, here and below'),
  month: budget('month', 'What may be spent in a calendar month'),
  total: budget('total', 'What may be spent in all'),
  'alert-at': {
    ...budget('alertAt', 'The part of a budget at which you are told (0.8)'),
    placeholder: 'PART',
  },
  'requests-per-minute': rate('requestsPerMinute', 'Calls within any minute'),
  'tokens-per-minute': rate('tokensPerMinute', 'Tokens of input and output together within any minute'),
  'requests-per-day': rate('requestsPerDay', 'Calls within any 24 hours'),
  'images-per-minute': rate('imagesPerMinute', 'Images made within any minute'),
  concurrency: rate('concurrency', 'Calls under way at once'),
};

const groupOptions: Readonly<Record<string, LimitOption>> = {
  ...keyOptions,
  timezone: {
    placeholder: 'NAME',
    help: 'Where days and months of budgets begin, such as Europe/Berlin (UTC)',
    member: ['timezone'],
  },
};

const sets = (member: string, value: boolean, help: string): LimitOption => ({
  ...{ placeholder: null, help, member: [member], value },
});

const accountOptions: Readonly<Record<string, LimitOption>> = {
  prepaid: sets('prepaid', true, 'Its calls must be covered by its balance'),
  unlimited: sets('prepaid', false, 'It may owe any amount'),
  'credit-limit': {
    placeholder: 'USD',
    help: 'How far the balance of a prepaid account may go below zero',
    member: ['creditLimit'],
  },
  discount: {
    placeholder: 'PERCENT',
    help: "What its calls cost less than its group pays: 12.5, or a list as in a file, '[{ percent: 20, models: [gpt-5] }]'",
    member: ['discount'],
  },
  'show-balance': sets('showBalance', true, 'Its keys may see the balance of the whole account'),
  'hide-balance': sets('showBalance', false, 'They may not'),
  'show-keys': sets('showKeys', true, 'Its keys may see what its other keys have used'),
  'hide-keys': sets('showKeys', false, 'They may not'),
  ...groupOptions,
};

/** Options that say the contrary of each other. */
const contraries = [
  ['prepaid', 'unlimited'],
  ['show-balance', 'hide-balance'],
  ['show-keys', 'hide-keys'],
] as const;

/** Says which two options cannot both be meant; null where none are. */
export function contrariesIn({ options }: Pick<CommandContext, 'options'>): string | null {
  const [one, other] = contraries.find((both) => both.every((name) => options[name] !== undefined)) ?? [];
  return one === undefined ? null : `name one of --${one} and --${other}`;
}

const optionsOf = { account: accountOptions, group: groupOptions, key: keyOptions } as const satisfies Record<
  OwnerKind,
  Readonly<Record<string, LimitOption>>
>;

/** The options by which limits of an owner are set. */
export function limitOptions(owner: OwnerKind): Readonly<Record<string, CommandOption>> {
  const model = { placeholder: 'ID', help: 'The rates count calls of this model only' };
  return { ...optionsOf[owner], model };
}

type Members = { [member: string]: boolean | number | string | null | readonly unknown[] | Members };

/** The change that the options of a command line ask for. */
export function limitBody(owner: OwnerKind, { options }: Pick<CommandContext, 'options'>): Members {
  const body: Members = {};
  for (const [name, { member, isRate, value: fixed }] of Object.entries<LimitOption>(optionsOf[owner])) {
    const given = options[name];
    if (given === undefined) continue;
    const value = fixed ?? valueIn(given, isRate === true);
    const model = isRate === true ? options['model'] : undefined;
    const path = model === undefined ? member : ['limits', 'models', model, ...member.slice(1)];
    put(body, path, value);
  }
  // Who may owe any amount has no limit of it.
  if (options['unlimited'] !== undefined && body['creditLimit'] === undefined) body['creditLimit'] = null;
  if (options['discount'] !== undefined) body['discount'] = discountIn(options['discount']);
  return body;
}

/** A list is read from its own text: a float has no say in its percentages. One that cannot be read is empty, which is refused. */
function discountIn(given: string): string | readonly unknown[] | null {
  if (!given.startsWith('[')) return given === 'none' ? null : given;
  const read = readYaml(given, '--discount');
  if (!read.ok || !Array.isArray(read.value.plain)) return [];
  const { plain, exactText } = read.value;
  return plain.map((entry: unknown, at) => {
    const percent = exactText([at, 'percent']);
    return percent === null || typeof entry !== 'object' ? entry : { ...entry, percent };
  });
}

function valueIn(given: string, isRate: boolean): string | number | null {
  if (given === 'none') return null;
  return isRate && /^\d{1,15}$/.test(given) ? Number(given) : given;
}

function put(body: Members, [first = '', ...rest]: readonly string[], value: Members[string]): void {
  if (rest.length === 0) {
    body[first] = value;
    return;
  }
  const inner = body[first];
  const map: Members = isMembers(inner) ? inner : {};
  body[first] = map;
  put(map, rest, value);
}

function isMembers(value: Members[string] | undefined): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Says why nothing was done, in the words of a command line. */
export function printRefusal({ output }: CommandContext, refusal: AccountRefusal): ExitReason {
  if (refusal.kind !== 'invalid') {
    printFailure(output, [refusal.message]);
    return 'failed';
  }
  printFailure(output, refusal.mistakes.map(mistakeText));
  return 'usage';
}

/** Options of keys that set a member which is not named like them. */
const otherOptions: Readonly<Record<string, string>> = { addressRanges: 'addresses' };
const sameOptions = ['name', 'group', 'account', 'models', 'expires'];

function mistakeText({ path, message }: LimitMistake): string {
  const [member = ''] = path;
  const named = otherOptions[member] ?? sameOptions.find((each) => each === member);
  if (named !== undefined) return `--${named}: ${message}`;
  const [option] =
    Object.entries<LimitOption>(accountOptions).find(
      ([, { member, value }]) => value !== false && member.at(-1) === path.at(-1),
    ) ?? [];
  if (option !== undefined) return `--${option}: ${message}`;
  return path.join('') === '' ? message : `${path.join('.')}: ${message}`;
}
