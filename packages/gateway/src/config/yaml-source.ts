import { fail, type Result, succeed } from '@headgate/protocols';
import {
  type Alias,
  type Document,
  isAlias,
  isCollection,
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  visit,
  type YAMLMap,
} from 'yaml';

export type YamlPath = readonly (string | number)[];

/** A YAML text that remembers where everything stands and how every number was written. */
export interface YamlSource {
  /** The content as plain values; null for an empty file. */
  readonly plain: unknown;
  /** `file:line:column` of the value at the path, or of the nearest thing that holds it. */
  where(path: YamlPath): string;
  /** `file:line:column` of a member's name, for a complaint about the name itself. */
  whereName(path: YamlPath, name: string): string;
  /** A scalar as it was written, before YAML made a float of it: `2.50`. Null when there is no scalar. */
  exactText(path: YamlPath): string | null;
}

/** Nodes of a file with all that its aliases stand for; beyond it a small file would grow to fill the memory, or the time of reading it. */
const expandedMax = 1_000_000;

/** Reads YAML 1.2, and merge keys. Syntax errors and repeated members are all reported, each with its place. */
export function readYaml(
  text: string,
  fileName: string,
): Result<YamlSource, readonly ConfigurationProblem[]> {
  const lines = new LineCounter();
  // Its own check of names takes the square of their number: seconds where there are ten thousand keys.
  const options = { lineCounter: lines, prettyErrors: false, uniqueKeys: false, merge: true };
  const document = parseDocument(text, options);
  const place = (offset: number): string => {
    const { line, col } = lines.linePos(offset);
    return `${fileName}:${line}:${col}`;
  };
  const errors = document.errors.map(({ pos, message }) => ({ offset: pos[0], message }));
  const aliases = aliasesOf(document);
  const mistakes = [...errors, ...repeatedNames(document), ...aliases.mistakes].sort(
    (a, b) => a.offset - b.offset,
  );
  if (mistakes.length > 0)
    return fail(mistakes.map(({ offset, message }) => ({ where: place(offset), path: '', message })));
  const nodeAt = (path: YamlPath): Node | null => {
    let node = resolve(document.contents);
    for (const step of path) node = memberOf(node, step);
    return node;
  };
  const memberOf = (node: Node | null, step: string | number): Node | null => {
    if (!isCollection(node)) return null;
    const own = resolve(node.get(step, true));
    if (own !== null || !isMap(node)) return own;
    return mergedInto(node).reduce<Node | null>((found, map) => found ?? memberOf(map, step), null);
  };
  /** The maps behind a map's `<<`; what the first says holds. */
  const mergedInto = (map: YAMLMap): readonly (Node | null)[] => {
    const keys = map.items.filter(({ key }) => isScalar(key) && key.source === '<<');
    return keys.flatMap(({ value }) => {
      const merged = resolve(value);
      return isSeq(merged) ? merged.items.map(resolve) : [merged];
    });
  };
  const resolve = (found: unknown): Node | null => {
    if (isAlias(found)) return aliases.targets.get(found) ?? null;
    return isNode(found) ? found : null;
  };
  const plain = plainValue(document, aliases.targets);
  if (!plain.ok) return fail([{ where: place(0), path: '', message: plain.error }]);
  return succeed({
    plain: plain.value,
    where: (path) => place(nearest(path, nodeAt)?.range?.[0] ?? 0),
    whereName: (path, name) => place(nameOffset(nodeAt(path), name)),
    exactText: (path) => {
      const node = nodeAt(path);
      return isScalar(node) ? (node.source ?? String(node.value)) : null;
    },
  });
}

/** Finds in one walk the node that each alias stands for: the last before it that has its anchor. */
function aliasesOf(document: Document) {
  const anchors = new Map<string, Node>();
  const targets = new Map<Alias, Node>();
  const mistakes: { offset: number; message: string }[] = [];
  visit(document, {
    Value: (_, node) => {
      if (node.anchor !== undefined) anchors.set(node.anchor, node);
    },
    Alias: (_, alias) => {
      const target = anchors.get(alias.source);
      if (target !== undefined) targets.set(alias, target);
      else
        mistakes.push({ offset: alias.range?.[0] ?? 0, message: `there is no &${alias.source} before it` });
    },
  });
  return { targets, mistakes };
}

/** Counts the nodes that a node amounts to; one that holds itself has no end. */
function expandedSize(
  node: unknown,
  targets: ReadonlyMap<Alias, Node>,
  known = new Map<unknown, number>(),
): number {
  if (isAlias(node)) return expandedSize(targets.get(node), targets, known);
  if (!isCollection(node)) return 1;
  const found = known.get(node);
  if (found !== undefined) return found;
  known.set(node, Number.POSITIVE_INFINITY);
  let size = 1;
  for (const item of node.items) {
    const parts = isPair(item) ? [item.key, item.value] : [item];
    for (const part of parts) size += expandedSize(part, targets, known);
  }
  known.set(node, size);
  return size;
}

function plainValue(document: Document, targets: ReadonlyMap<Alias, Node>): Result<unknown, string> {
  if (targets.size > 0 && expandedSize(document.contents, targets) > expandedMax)
    return fail(`its aliases cannot be followed: they stand for more than ${expandedMax} values`);
  try {
    const plain: unknown = document.toJS({ maxAliasCount: -1 });
    return succeed(plain);
  } catch (error) {
    return fail(`its aliases cannot be followed: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function repeatedNames(document: Document): { offset: number; message: string }[] {
  const repeated: { offset: number; message: string }[] = [];
  visit(document, {
    Map: (_, { items }) => {
      const names = new Set<unknown>();
      for (const { key } of items) {
        if (!isScalar(key)) continue;
        if (names.has(key.value))
          repeated.push({ offset: key.range?.[0] ?? 0, message: 'Map keys must be unique' });
        names.add(key.value);
      }
    },
  });
  return repeated;
}

function nearest(path: YamlPath, nodeAt: (path: YamlPath) => Node | null): Node | null {
  for (let length = path.length; length >= 0; length--) {
    const node = nodeAt(path.slice(0, length));
    if (node !== null) return node;
  }
  return null;
}

function nameOffset(map: Node | null, name: string): number {
  if (!isMap(map)) return map?.range?.[0] ?? 0;
  const found = map.items.find(({ key }) => isScalar(key) && String(key.value) === name);
  return isScalar(found?.key) ? (found.key.range?.[0] ?? 0) : (map.range?.[0] ?? 0);
}

/** One thing that is wrong with a configuration, said so that its author can mend it. */
export interface ConfigurationProblem {
  /** Where: `headgate.yaml:12:5`, `--api-port`, `HEADGATE_API_PORT`. */
  readonly where: string;
  /** Members from the root, joined with dots; empty for the whole. */
  readonly path: string;
  /** Says what is wrong and how to mend it. */
  readonly message: string;
}

export function describeProblem({ where, path, message }: ConfigurationProblem): string {
  return path === '' ? `${where}: ${message}` : `${where}: ${path}: ${message}`;
}
