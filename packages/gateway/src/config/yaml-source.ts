import { fail, type Result, succeed } from '@headgate/protocols';
import {
  type Document,
  isAlias,
  isCollection,
  isMap,
  isNode,
  isScalar,
  LineCounter,
  type Node,
  parseDocument,
  visit,
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

/** Reads YAML 1.2. Syntax errors and repeated members are all reported, each with its place. */
export function readYaml(
  text: string,
  fileName: string,
): Result<YamlSource, readonly ConfigurationProblem[]> {
  const lines = new LineCounter();
  // Its own check of names takes the square of their number: seconds where there are ten thousand keys.
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: false });
  const place = (offset: number): string => {
    const { line, col } = lines.linePos(offset);
    return `${fileName}:${line}:${col}`;
  };
  const errors = document.errors.map(({ pos, message }) => ({ offset: pos[0], message }));
  const mistakes = [...errors, ...repeatedNames(document)].sort((a, b) => a.offset - b.offset);
  if (mistakes.length > 0)
    return fail(mistakes.map(({ offset, message }) => ({ where: place(offset), path: '', message })));
  const nodeAt = (path: YamlPath): Node | null => {
    let node = resolve(document.contents);
    for (const step of path) node = isCollection(node) ? resolve(node.get(step, true)) : null;
    return node;
  };
  const resolve = (found: unknown): Node | null => {
    if (isAlias(found)) return found.resolve(document) ?? null;
    return isNode(found) ? found : null;
  };
  const plain: unknown = document.toJS();
  return succeed({
    plain,
    where: (path) => place(nearest(path, nodeAt)?.range?.[0] ?? 0),
    whereName: (path, name) => place(nameOffset(nodeAt(path), name)),
    exactText: (path) => {
      const node = nodeAt(path);
      return isScalar(node) ? (node.source ?? String(node.value)) : null;
    },
  });
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
