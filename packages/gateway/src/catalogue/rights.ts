import {
  type MemberRule,
  type MemberRules,
  type NameSearch,
  type ProtocolId,
  plainName,
} from '@headgate/protocols';
import type { Model, NameRights } from './catalogue.ts';
import table from './member-rights.json' with { type: 'json' };
import { unsaid } from './served.ts';

/** One row: the rule, why it is so, and the texts it holds for where it does not hold for all. */
type Row = readonly string[];

const rules: ReadonlySet<string> = new Set<MemberRule>([
  'own',
  'named',
  'unnamed',
  'words',
  'tags',
  'priced',
  'harmless',
]);

function isRule(word: string | undefined): word is MemberRule {
  return word !== undefined && rules.has(word);
}

/** The rows that hold for a protocol: those of every one first, its own behind them. */
export function memberRows(protocol: ProtocolId): ReadonlyMap<string, Row> {
  return new Map<string, Row>([
    ...Object.entries(table['every protocol']),
    ...Object.entries(table[protocol]),
  ]);
}

/** The rules for the members of a protocol's bodies (`member-rights.json`). */
function memberRules(protocol: ProtocolId): MemberRules {
  const found = new Map<string, MemberRule>();
  const unnamed = new Map<string, RegExp>();
  for (const [path, [rule, , texts]] of memberRows(protocol)) {
    if (!isRule(rule)) throw new Error(`${protocol}: '${path}' has no rule of ours`);
    const plain = path
      .split('.')
      .map((name) => plainName(name.replaceAll('[]', '')))
      .join('.');
    if (texts === undefined) found.set(plain, rule);
    else unnamed.set(plain, new RegExp(texts));
  }
  return {
    rules: found,
    unnamed,
    words: new Set(table.anywhere.words.map(plainName)),
    roots: new Set(table.roots.map(plainName)),
  };
}

/** The part of a name that tells one model from another. */
function keyOf(name: string): string {
  return name.toLowerCase().replace(unsaid, '');
}

const none: readonly Model[] = [];

/** The names of models that bodies may have, and how they are found: for the keys that are bound to a list. */
export class Rights implements NameRights {
  /** By every name they have, ours and their upstreams'. */
  readonly #models: ReadonlyMap<string, ReadonlySet<Model>>;
  readonly #searches = new Map<ProtocolId, NameSearch>();

  constructor(models: Iterable<Model>) {
    const named = new Map<string, Set<Model>>();
    for (const model of models) {
      for (const name of [model.id, ...model.targets.map(({ upstreamModel }) => upstreamModel)]) {
        const key = keyOf(name);
        named.set(key, (named.get(key) ?? new Set<Model>()).add(model));
      }
    }
    this.#models = named;
  }

  /** The search for names in bodies of a protocol. */
  searchOf(protocol: ProtocolId): NameSearch {
    const known = this.#searches.get(protocol);
    if (known !== undefined) return known;
    const search = { rules: memberRules(protocol), isKnown: (text: string) => this.#models.has(keyOf(text)) };
    this.#searches.set(protocol, search);
    return search;
  }

  /** The models that a text may mean; the one that is spelt like it comes first. */
  modelsNamed(text: string): readonly Model[] {
    const found = [...(this.#models.get(keyOf(text)) ?? none)];
    return found.sort((a, b) => Number(b.id === text) - Number(a.id === text));
  }
}
