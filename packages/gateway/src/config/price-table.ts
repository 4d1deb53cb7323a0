import { fail, type Result, succeed } from '@headgate/protocols';
import { priceClassNames } from '../money/price-terms.ts';
import { plainSource } from './plain-source.ts';
import { didYouMean } from './suggestion.ts';
import type { ConfigurationProblem, YamlPath, YamlSource } from './yaml-source.ts';

/** The columns beside the classes of prices. A row is a price, or one of its service tiers, or a tier of its size. */
const places = ['model', 'channel', 'from', 'service', 'aboveInputTokens', 'whole'] as const;
const columns: readonly string[] = [...places, ...priceClassNames];

/** A line of a table, taken apart, or why it cannot be. */
export type TableLine =
  | { readonly line: number; readonly cells: readonly string[] }
  | { readonly line: number; readonly problem: string };

/** A row of the table: its cells by column, those that are empty left out. */
interface Row {
  readonly number: number;
  readonly cells: ReadonlyMap<string, string>;
}

/** Reads a table of prices as what a file of YAML would say, with the line of each value. */
export function readPriceTable(
  lines: readonly TableLine[],
  name: string,
): Result<YamlSource, readonly ConfigurationProblem[]> {
  const problems: ConfigurationProblem[] = [];
  const complain = (line: number, path: string, message: string): void =>
    void problems.push({ where: `${name}:${line}`, path, message });
  const sound = lines.flatMap((each) => {
    if ('cells' in each) return [{ number: each.line, cells: each.cells.map((cell) => cell.trim()) }];
    complain(each.line, '', each.problem);
    return [];
  });
  const [titles = { number: 1, cells: [] }, ...body] = sound.filter(({ cells }) =>
    cells.some((cell) => cell !== ''),
  );
  checkTitles(titles.cells, (path, message) => complain(titles.number, path, message));
  const rows: Row[] = [];
  for (const { number, cells } of body) {
    if (cells.length !== titles.cells.length)
      complain(number, '', `has ${cells.length} cells, and ${titles.cells.length} columns have titles`);
    else if (cells[titles.cells.indexOf('model')] === '') complain(number, 'model', 'is missing');
    else rows.push({ number, cells: new Map(titles.cells.map((title, at) => [title, cells[at] ?? ''])) });
  }
  if (problems.length > 0) return fail(problems);
  const tree = new PriceTree(name, complain);
  for (const row of rows) tree.add(row);
  return problems.length > 0 ? fail(problems) : succeed(tree.source());
}

function checkTitles(titles: readonly string[], complain: (path: string, message: string) => void): void {
  for (const [at, title] of titles.entries()) {
    if (!columns.includes(title)) complain(title, `there is no such column${didYouMean(title, columns)}`);
    else if (titles.indexOf(title) < at) complain(title, 'is a column twice');
  }
  if (!titles.includes('model'))
    complain('', `has no column model; its first line names the columns: ${columns.slice(0, 8).join(',')}…`);
}

interface Members {
  [name: string]: Members | Members[] | string | number | boolean;
}

/** The tree that the rows amount to, and the line of each of its nodes. */
class PriceTree {
  readonly #name: string;
  readonly #complain: (line: number, path: string, message: string) => void;
  readonly #entries = new Map<
    string,
    { readonly at: YamlPath; readonly entry: Members; readonly taken: Map<string, number> }
  >();
  readonly #lines = new Map<string, number>();
  readonly #plain: Members = {};

  constructor(name: string, complain: (line: number, path: string, message: string) => void) {
    this.#name = name;
    this.#complain = complain;
  }

  add({ number, cells }: Row): void {
    const said = (column: string) => cells.get(column) ?? '';
    const { entry, at, taken } = this.#entryOf(said('model'), said('channel'), said('from'), number);
    const service = said('service');
    const above = said('aboveInputTokens');
    const row = JSON.stringify([service, above]);
    const earlier = taken.get(row);
    taken.set(row, number);
    if (earlier !== undefined)
      return this.#complain(number, '', `says the same price again as line ${earlier}`);
    const owner = service === '' ? entry : memberOf(memberOf(entry, 'services'), service);
    const path = service === '' ? at : [...at, 'services', service];
    const tier = above === '' ? owner : nextOf(owner, 'tiers');
    const place = above === '' ? path : [...path, 'tiers', listOf(owner, 'tiers').length - 1];
    this.#note(place, number);
    if (above !== '')
      this.#set(tier, place, 'aboveInputTokens', /^\d{1,15}$/.test(above) ? Number(above) : above, number);
    const whole = said('whole');
    if (whole !== '')
      this.#set(tier, place, 'whole', whole === 'true' ? true : whole === 'false' ? false : whole, number);
    for (const name of priceClassNames)
      if (said(name) !== '') this.#set(tier, place, name, said(name), number);
  }

  source(): YamlSource {
    return plainSource(this.#plain, (path) => {
      for (let length = path.length; length > 0; length--) {
        const line = this.#lines.get(JSON.stringify(path.slice(0, length)));
        if (line !== undefined) return `${this.#name}:${line}`;
      }
      return this.#name;
    });
  }

  /** The price of a model from a moment on, which later rows may add to. */
  #entryOf(model: string, channel: string, from: string, line: number) {
    const id = JSON.stringify([model, channel, from]);
    const known = this.#entries.get(id);
    if (known !== undefined) return known;
    const owner =
      channel === '' ? memberOf(this.#plain, 'prices') : memberOf(memberOf(this.#plain, 'costs'), channel);
    const above: YamlPath = channel === '' ? ['prices', model] : ['costs', channel, model];
    const entry = nextOf(owner, model);
    const at = [...above, listOf(owner, model).length - 1];
    const made = { at, entry, taken: new Map<string, number>() };
    this.#note(above, line);
    this.#note(at, line);
    if (from !== '') this.#set(entry, at, 'from', from, line);
    this.#entries.set(id, made);
    return made;
  }

  #set(members: Members, at: YamlPath, name: string, value: string | number | boolean, line: number): void {
    members[name] = value;
    this.#note([...at, name], line);
  }

  #note(path: YamlPath, line: number): void {
    const id = JSON.stringify(path);
    if (!this.#lines.has(id)) this.#lines.set(id, line);
  }
}

function memberOf(members: Members, name: string): Members {
  const found = Object.hasOwn(members, name) ? members[name] : undefined;
  if (typeof found === 'object' && !Array.isArray(found)) return found;
  const made: Members = {};
  members[name] = made;
  return made;
}

function listOf(members: Members, name: string): Members[] {
  const found = Object.hasOwn(members, name) ? members[name] : undefined;
  if (Array.isArray(found)) return found;
  const made: Members[] = [];
  members[name] = made;
  return made;
}

function nextOf(members: Members, name: string): Members {
  const made: Members = {};
  listOf(members, name).push(made);
  return made;
}
