import { fail, type Result, succeed } from '@headgate/protocols';
import { z } from 'zod';
import { identifier, modelId } from '../catalogue/identifiers.ts';
import { shapeProblems } from './configuration-file.ts';
import { plainSource } from './plain-source.ts';
import { priceEntry, writtenPrices } from './price-shape.ts';
import { readPriceTable, type TableLine } from './price-table.ts';
import { type ConfigurationProblem, readYaml, type YamlSource } from './yaml-source.ts';

const schema = z.strictObject({
  prices: z.record(modelId, writtenPrices).exactOptional(),
  costs: z.record(identifier, z.record(modelId, writtenPrices)).exactOptional(),
});

/** Prices that an operator writes by a command: what callers pay by model, and what channels cost by channel and model. */
export interface PriceSheet {
  readonly shape: z.infer<typeof schema>;
  readonly source: YamlSource;
}

type Read<Value> = Result<Value, readonly ConfigurationProblem[]>;

/** Reads a file of YAML or JSON, which has the shape above. */
export function readPriceSheet(text: string, name: string): Read<PriceSheet> {
  const source = readYaml(text, name);
  return source.ok ? sheetOf(source.value, name) : source;
}

/** Reads a value of that shape. */
export function readPriceObject(plain: unknown): Read<PriceSheet> {
  return sheetOf(
    plainSource(plain, (path) => path.join('.')),
    '',
  );
}

/** Reads a table, which has a row for each price. */
export function readPriceRows(lines: readonly TableLine[], name: string): Read<PriceSheet> {
  const source = readPriceTable(lines, name);
  return source.ok ? sheetOf(source.value, name) : source;
}

function sheetOf(source: YamlSource, name: string): Read<PriceSheet> {
  const shape = checked(schema, source);
  if (!shape.ok) return shape;
  const { prices = {}, costs = {} } = shape.value;
  if (Object.keys(prices).length + Object.keys(costs).length > 0)
    return succeed({ shape: shape.value, source });
  return refused(
    `${name}:1:1`,
    'names no price; write them under prices, by model, or under costs, by channel and model',
  );
}

/** Reads the price of one model as it is written after `prices set`: words such as `input=1.25`, or one map as in a file. */
export function readPriceWords(
  words: readonly string[],
  place: { readonly model: string; readonly channel: string | null; readonly from: string | null },
): Read<PriceSheet> {
  const { model, channel, from } = place;
  const written =
    words.length === 1 && words[0]?.startsWith('{') === true ? readMap(words[0]) : readPairs(words);
  if (!written.ok) return written;
  if (from !== null && 'from' in written.value.members)
    return refused('--from', 'is said by the price as well; name one of the two');
  const entry = { ...(from === null ? {} : { from }), ...written.value.members };
  const plain =
    channel === null ? { prices: { [model]: entry } } : { costs: { [channel]: { [model]: entry } } };
  const depth = channel === null ? 2 : 3;
  const { inner } = written.value;
  const outer = plainSource(plain, (path) => String(path.at(depth) ?? model));
  // A map is read from its own text: a float has no say in it.
  const source: YamlSource =
    inner === null
      ? outer
      : { ...outer, exactText: (path) => inner.exactText(path.slice(depth)) ?? outer.exactText(path) };
  const shape = checked(schema, source);
  return shape.ok ? succeed({ shape: shape.value, source }) : shape;
}

interface Words {
  readonly members: object;
  readonly inner: YamlSource | null;
}

function readMap(text: string): Read<Words> {
  const inner = readYaml(text, 'PRICE');
  if (!inner.ok) return inner;
  const { plain } = inner.value;
  if (typeof plain === 'object' && plain !== null) return succeed({ members: plain, inner: inner.value });
  return refused('PRICE', 'must be a map such as { input: 1.25, output: 10 }');
}

const memberNames = Object.keys(priceEntry.shape);

function readPairs(words: readonly string[]): Read<Words> {
  const members: Record<string, unknown> = {};
  for (const word of words) {
    const [, name = '', value = ''] = /^(\w+)=(.*)$/s.exec(word) ?? [];
    if (!memberNames.includes(name))
      return refused(
        word,
        'must be a price such as input=1.25, or one map such as { input: 1.25, output: 10 }',
      );
    if (Object.hasOwn(members, name)) return refused(word, `says ${name} again`);
    members[name] = name === 'whole' ? readWord(value) : value;
  }
  return succeed({ members, inner: null });
}

function readWord(text: string): unknown {
  return text === 'true' ? true : text === 'false' ? false : text;
}

function checked<Shape>(given: z.ZodType<Shape>, source: YamlSource): Read<Shape> {
  const read = given.safeParse(source.plain ?? {});
  return read.success ? succeed(read.data) : fail(shapeProblems(source, given, read.error));
}

function refused<Value>(where: string, message: string): Read<Value> {
  return fail([{ where, path: '', message }]);
}
