import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

/** One file of the repository, parsed. */
export interface SourceFile {
  /** From the repository's root, with forward slashes. */
  readonly path: string;
  /** Tests and what only tests use: they may reach anywhere. */
  readonly isTest: boolean;
  readonly tree: ts.SourceFile;
  readonly imports: readonly Import[];
}

export interface Import {
  /** As written. */
  readonly specifier: string;
  /** The file it leads to, from the root; null for a package. */
  readonly target: string | null;
  readonly typeOnly: boolean;
  readonly node: ts.Node;
}

/** Something that breaks a rule of the house. */
export interface Violation {
  /** `path:line`. */
  readonly where: string;
  readonly what: string;
}

/** Checks all files at once, because some rules are about how they hang together. */
export interface Rule {
  readonly name: string;
  /** How to mend a violation. */
  readonly remedy: string;
  check(files: readonly SourceFile[]): readonly Violation[];
}

export const repositoryRoot = fileURLToPath(new URL('../../../../', import.meta.url));

/** Every TypeScript file of the packages. */
export function readSourceFiles(): SourceFile[] {
  const paths = globSync('packages/*/src/**/*.{ts,tsx}', { cwd: repositoryRoot });
  return paths.sort().map((path) => parseSourceFile(path, readFileSync(join(repositoryRoot, path), 'utf8')));
}

export function parseSourceFile(path: string, text: string): SourceFile {
  const tree = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  return {
    path,
    isTest: isTestPath(path),
    tree,
    imports: tree.statements.flatMap((node) => readImport(path, node)),
  };
}

function isTestPath(path: string): boolean {
  return /\.(test|fixture)\.tsx?$|\/testing\.ts$|\/(contract|fixtures|architecture)\//.test(path);
}

function readImport(path: string, node: ts.Statement): Import[] {
  if (!ts.isImportDeclaration(node) && !ts.isExportDeclaration(node)) return [];
  if (node.moduleSpecifier === undefined || !ts.isStringLiteral(node.moduleSpecifier)) return [];
  const specifier = node.moduleSpecifier.text;
  return [{ specifier, target: targetOf(path, specifier), typeOnly: isTypeOnly(node), node }];
}

function isTypeOnly(node: ts.ImportDeclaration | ts.ExportDeclaration): boolean {
  if (ts.isExportDeclaration(node)) return node.isTypeOnly;
  const clause = node.importClause;
  if (clause === undefined) return false;
  if (clause.phaseModifier === ts.SyntaxKind.TypeKeyword) return true;
  const names = clause.namedBindings;
  if (clause.name !== undefined || names === undefined || !ts.isNamedImports(names)) return false;
  return names.elements.length > 0 && names.elements.every((element) => element.isTypeOnly);
}

function targetOf(path: string, specifier: string): string | null {
  if (specifier.startsWith('.')) return relative('/', join('/', dirname(path), specifier));
  // The one entry beside the packages' own: what the console may know of the gateway.
  if (specifier === '@headgate/gateway/console') return 'packages/gateway/src/http/console/contract/index.ts';
  const workspace = /^@headgate\/([a-z-]+)$/.exec(specifier)?.[1];
  return workspace === undefined ? null : `packages/${workspace}/src/index.ts`;
}

export function violation(file: SourceFile, node: ts.Node, what: string): Violation {
  const { line } = file.tree.getLineAndCharacterOfPosition(node.getStart(file.tree));
  return { where: `${file.path}:${line + 1}`, what };
}

/** Every node of a file, outer ones first. */
export function* nodesOf(node: ts.Node): IterableIterator<ts.Node> {
  yield node;
  // A generator cannot yield from the callback of ts.forEachChild, so the children are collected first.
  const children: ts.Node[] = [];
  ts.forEachChild(node, (child) => {
    children.push(child);
  });
  for (const child of children) yield* nodesOf(child);
}
