import ts from 'typescript';
import { nodesOf, type Rule, type SourceFile, type Violation, violation } from './source-file.ts';

/** Programs: they are run, not imported. */
const programPattern = /\/(cli|[a-z-]*worker)\.ts$|^packages\/simulator\/src\/main\.ts$/;

const readonlyTypes: ReadonlySet<string> = new Set(['ReadonlyMap', 'ReadonlySet', 'WeakMap']);
/** Classes whose instances stay the same for ever once made (a decoder as long as nobody decodes in pieces); the last ones are ours. */
const immutableClasses: ReadonlySet<string> = new Set([
  'TextEncoder',
  'TextDecoder',
  'URL',
  'Intl.DateTimeFormat',
  'KeyNames',
  'BytePattern',
  'EndpointTable',
  'ProtocolTable',
]);

export const noModuleState: Rule = {
  name: 'a module has no state that changes',
  remedy:
    'put it into a value that main.ts makes and passes on; a table that never changes is typed ReadonlyMap or ReadonlySet',
  check: (files) =>
    sources(files).flatMap((file) =>
      file.tree.statements
        .filter(ts.isVariableStatement)
        .flatMap(({ declarationList }) =>
          declarationList.declarations.filter((each) => mayChange(declarationList, each)),
        )
        .map((declaration) =>
          violation(file, declaration, `module state: ${declaration.name.getText(file.tree)}`),
        ),
    ),
};

export const noEffectsAtImport: Rule = {
  name: 'importing a module does nothing',
  remedy: 'make it a function that main.ts calls; a program is named cli.ts, *-worker.ts or worker-entry.ts',
  check: (files) =>
    sources(files).flatMap((file) =>
      file.tree.statements
        .filter(acts)
        .map((statement) => violation(file, statement, 'acts when it is imported')),
    ),
};

export const noAny: Rule = {
  name: 'nothing is of type any',
  remedy: 'use unknown and narrow it',
  check: (files) =>
    files.flatMap((file) =>
      [...nodesOf(file.tree)]
        .filter((node) => node.kind === ts.SyntaxKind.AnyKeyword)
        .map((node): Violation => violation(file, node, 'any')),
    ),
};

function sources(files: readonly SourceFile[]): SourceFile[] {
  return files.filter((file) => !file.isTest && !programPattern.test(file.path));
}

function mayChange(list: ts.VariableDeclarationList, declaration: ts.VariableDeclaration): boolean {
  if ((list.flags & ts.NodeFlags.Const) === 0) return true;
  if (declaration.initializer === undefined || !ts.isNewExpression(declaration.initializer)) return false;
  if (immutableClasses.has(declaration.initializer.expression.getText())) return false;
  if (declaration.initializer.getText() === 'new Uint8Array(0)') return false;
  const { type } = declaration;
  if (type !== undefined && ts.isTypeReferenceNode(type)) return !readonlyTypes.has(type.typeName.getText());
  // `new Set<string>([...])` without a type of its own can be added to by anyone who sees it.
  return true;
}

function acts(statement: ts.Statement): boolean {
  return (
    ts.isExpressionStatement(statement) ||
    ts.isIfStatement(statement) ||
    ts.isIterationStatement(statement, false) ||
    ts.isTryStatement(statement) ||
    (ts.isImportDeclaration(statement) && statement.importClause === undefined)
  );
}
