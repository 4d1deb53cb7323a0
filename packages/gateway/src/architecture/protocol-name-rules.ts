import { globSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import ts from 'typescript';
import {
  nodesOf,
  type Rule,
  repositoryRoot,
  type SourceFile,
  type Violation,
  violation,
} from './source-file.ts';

/** Ids of protocols that are words of everybody else's vocabulary too: a member, a column, a list. */
const ordinaryWords: ReadonlySet<string> = new Set(['images', 'messages', 'responses']);

const table = 'packages/protocols/src/protocols.ts';

/** `ids` are those of the protocols that are spoken: the folders with a `wire.ts`. */
export function noListsOfProtocols(ids: readonly string[] = protocolIds()): Rule {
  const telling = ids.filter((id) => !ordinaryWords.has(id));
  return {
    name: 'protocols are listed in one place',
    remedy: `ask ${table} which there are, and put the difference into the folder of each as a member of Protocol`,
    check: (files) =>
      files.filter(({ path, isTest }) => !isTest && path !== table).flatMap((file) => listsIn(file, telling)),
  };
}

function protocolIds(): string[] {
  return globSync('packages/protocols/src/*/wire.ts', { cwd: repositoryRoot }).map((path) =>
    basename(dirname(path)),
  );
}

/** A file that names two of them has made a list, which the next protocol would have to be added to. */
function listsIn(file: SourceFile, ids: readonly string[]): readonly Violation[] {
  const named = [...nodesOf(file.tree)].filter(
    (node) => ts.isStringLiteralLike(node) && !ts.isImportDeclaration(node.parent) && ids.includes(node.text),
  );
  const [first] = named;
  const distinct = new Set(named.map((node) => (ts.isStringLiteralLike(node) ? node.text : '')));
  return first === undefined || distinct.size < 2
    ? []
    : [violation(file, first, `names ${[...distinct].join(' and ')}`)];
}
