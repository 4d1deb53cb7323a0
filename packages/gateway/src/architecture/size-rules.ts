import ts from 'typescript';
import { nodesOf, type Rule, type SourceFile, type Violation, violation } from './source-file.ts';

const fileLinesMax = 400;
const testFileLinesMax = 700;
const functionLinesMax = 70;

export const smallFiles: Rule = {
  name: `a file has ${fileLinesMax} lines at the most`,
  remedy: 'split it by noun',
  check: (files) =>
    files.flatMap((file) => {
      const lines = file.tree.getLineStarts().length;
      const tooLong = lines > (file.isTest ? testFileLinesMax : fileLinesMax);
      return tooLong ? [violation(file, file.tree, `has ${lines} lines`)] : [];
    }),
};

export const smallFunctions: Rule = {
  name: `a function has ${functionLinesMax} lines at the most`,
  remedy: 'name its parts and make them functions',
  check: (files) => files.filter((file) => !file.isTest).flatMap(longFunctions),
};

function longFunctions(file: SourceFile): Violation[] {
  return [...nodesOf(file.tree)].filter(isFunction).flatMap((node) => {
    const lines = lineOf(file, node.end) - lineOf(file, node.getStart(file.tree)) + 1;
    return lines > functionLinesMax ? [violation(file, node, `a function of ${lines} lines`)] : [];
  });
}

function isFunction(node: ts.Node): boolean {
  return ts.isFunctionLike(node) && 'body' in node && node.body !== undefined;
}

function lineOf(file: SourceFile, position: number): number {
  return file.tree.getLineAndCharacterOfPosition(position).line;
}

/** Files of production at the paths, and their lines. */
export function sizeOf(files: readonly SourceFile[], paths: RegExp): { files: number; lines: number } {
  const found = files.filter(({ isTest, path }) => !isTest && paths.test(path));
  const lines = found.reduce((sum, { tree }) => sum + tree.getLineStarts().length - 1, 0);
  return { files: found.length, lines };
}
