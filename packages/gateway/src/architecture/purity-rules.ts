import ts from 'typescript';
import { dataPath, pureFolders, timelessFolders } from './folder-permissions.ts';
import { nodesOf, type Rule, type SourceFile, type Violation, violation } from './source-file.ts';

const outsideWorld: ReadonlySet<string> = new Set([
  'process',
  'Buffer',
  'console',
  'performance',
  'fetch',
  'crypto',
  'setTimeout',
  'setInterval',
  'setImmediate',
  'queueMicrotask',
]);

export const pureFoldersStayPure: Rule = {
  name: 'protocols/, catalogue/, money/ and route/ compute and do nothing else',
  remedy: 'take the value as a parameter, or move the code to the folder that may do this',
  check: (files) => within(files, pureFolders, (node) => isGlobal(node, outsideWorld)),
};

export const clockAndChanceAreInjected: Rule = {
  name: 'the pure folders and call/ read no clock, draw no chance and know no process',
  remedy: 'use ports/clock.ts, or take the value as a parameter',
  check: (files) =>
    within(
      files,
      timelessFolders,
      (node) => readsClock(node) || isGlobal(node, new Set(['performance', 'process', 'console', 'crypto'])),
    ),
};

export const noFetchInDataPath: Rule = {
  name: 'fetch stays out of the data path',
  remedy: 'use ports/upstream.ts; fetch costs five to nine times more per call',
  check: (files) => within(files, dataPath, (node) => isGlobal(node, new Set(['fetch']))),
};

export const oneReaderOfTheEnvironment: Rule = {
  name: 'config.ts alone reads process.env',
  remedy: 'make it a setting, or take the value as a parameter',
  check: (files) =>
    within(
      files.filter((file) => file.path !== 'packages/gateway/src/config.ts'),
      ['packages/'],
      (node) => ts.isPropertyAccessExpression(node) && node.getText() === 'process.env',
    ),
};

function within(
  files: readonly SourceFile[],
  folders: readonly string[],
  breaks: (node: ts.Node) => boolean,
): Violation[] {
  const concerned = files.filter(
    (file) => !file.isTest && folders.some((folder) => file.path.startsWith(folder)),
  );
  return concerned.flatMap((file) =>
    [...nodesOf(file.tree)]
      .filter(breaks)
      .map((node) => violation(file, node, `uses ${node.getText(file.tree)}`)),
  );
}

/** A use of a global value: neither a member of something else, nor a name that is being given, nor a type. */
function isGlobal(node: ts.Node, names: ReadonlySet<string>): boolean {
  if (!ts.isIdentifier(node) || !names.has(node.text)) return false;
  const { parent } = node;
  if (ts.isPropertyAccessExpression(parent)) return parent.expression === node;
  if (ts.isTypeReferenceNode(parent) || ts.isQualifiedName(parent)) return false;
  return !('name' in parent && parent.name === node) && !ts.isImportSpecifier(parent);
}

function readsClock(node: ts.Node): boolean {
  if (ts.isPropertyAccessExpression(node)) return ['Date.now', 'Math.random'].includes(node.getText());
  const isDate =
    (ts.isNewExpression(node) || ts.isCallExpression(node)) && node.expression.getText() === 'Date';
  return isDate && (node.arguments ?? []).length === 0;
}
