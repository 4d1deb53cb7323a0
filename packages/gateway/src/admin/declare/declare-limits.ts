import { type DeclaredRates, limitMistakes, type WrittenLimits } from '../../catalogue/limit-fields.ts';
import type { YamlPath } from '../../config/yaml-source.ts';
import { complain, type Declaring, requireKnown } from './declaring.ts';

/** The members of an owner that say what it may spend and ask for. */
interface LimitedShape extends WrittenLimits {
  readonly limits?: DeclaredRates;
}

/**
 * The members of an owner with its amounts as they were written, since no digit may pass through a float. Amounts that are wrong are
 * complained of and left out.
 */
export function exactLimits<Shape extends object>(
  declaring: Declaring,
  path: YamlPath,
  shape: Shape,
  modelIds: readonly string[],
): Shape {
  // The file's schema, which comes from a table, has held every member against its field.
  const { limits, ...given } = shape as LimitedShape;
  for (const model of Object.keys(limits?.models ?? {}))
    requireKnown(declaring, [...path, 'limits', 'models', model], 'model', model, modelIds);
  const written = amountsAsWritten(declaring, path, given);
  const mistakes = limitMistakes({ ...given, ...written });
  for (const mistake of mistakes) complain(declaring, [...path, ...mistake.path], mistake.message);
  return { ...shape, ...(mistakes.length === 0 ? written : { creditLimit: undefined, budgets: undefined }) };
}

function amountsAsWritten(
  { file }: Declaring,
  path: YamlPath,
  { creditLimit, budgets }: WrittenLimits,
): WrittenLimits {
  const written = (...steps: YamlPath) => file.source.exactText([...path, ...steps]) ?? '';
  const spans = Object.keys(budgets ?? {}).map((name): [string, string] => [name, written('budgets', name)]);
  return {
    ...(creditLimit === undefined ? {} : { creditLimit: written('creditLimit') }),
    ...(budgets === undefined ? {} : { budgets: Object.fromEntries(spans) }),
  };
}
