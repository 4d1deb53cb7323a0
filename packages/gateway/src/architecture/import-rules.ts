import { type FolderPermission, folderPermissions } from './folder-permissions.ts';
import { type Import, type Rule, type SourceFile, type Violation, violation } from './source-file.ts';

export const permittedImports: Rule = {
  name: 'a folder imports what its permission names',
  remedy:
    'move the code, put an interface into ports/, or change architecture/folder-permissions.ts with an ADR',
  check: (files) => files.filter((file) => !file.isTest).flatMap(forbiddenImports),
};

export const noCycles: Rule = {
  name: 'no file imports itself by a detour',
  remedy: 'move what both ends need into a third file',
  check(files) {
    const byPath = new Map(files.map((file) => [file.path, file]));
    const finished = new Set<string>();
    const found: Violation[] = [];
    for (const file of files) walk(file, [], byPath, finished, found);
    return found;
  },
};

function forbiddenImports(file: SourceFile): Violation[] {
  const home = homeOf(file.path);
  const permission = home === null ? undefined : folderPermissions[home];
  if (home === null || permission === undefined) {
    return [violation(file, file.tree, 'lies in a folder that has no permission')];
  }
  return file.imports
    .filter((found) => !isPermitted(found, home, permission))
    .map((found) => violation(file, found.node, `${home} may not import ${found.specifier}`));
}

/** The longest entry of the table that the path lies in. */
function homeOf(path: string): string | null {
  const homes = Object.keys(folderPermissions).filter((folder) => liesIn(path, folder));
  return homes.reduce<string | null>(
    (best, home) => (best === null || home.length > best.length ? home : best),
    null,
  );
}

function isPermitted(found: Import, home: string, permission: FolderPermission): boolean {
  const { specifier, target } = found;
  if (target === null) return permission.packages.some((name) => isPackage(specifier, name));
  // Relative paths stay inside a package; other packages are reached by their name.
  if (specifier.startsWith('.') && packageOf(target) !== packageOf(home)) return false;
  if (liesIn(target, home) || permission.imports.some((folder) => liesIn(target, folder))) return true;
  return found.typeOnly && (permission.types ?? []).some((folder) => liesIn(target, folder));
}

function liesIn(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith('/') ? folder : `${folder}/`);
}

function isPackage(specifier: string, name: string): boolean {
  return name === 'node:'
    ? specifier.startsWith('node:')
    : specifier === name || specifier.startsWith(`${name}/`);
}

function packageOf(path: string): string | undefined {
  return path.split('/')[1];
}

function walk(
  file: SourceFile,
  trail: readonly string[],
  byPath: ReadonlyMap<string, SourceFile>,
  finished: Set<string>,
  found: Violation[],
): void {
  const start = trail.indexOf(file.path);
  if (start >= 0) {
    found.push(violation(file, file.tree, `cycle: ${[...trail.slice(start), file.path].join(' → ')}`));
    return;
  }
  if (finished.has(file.path)) return;
  for (const { target } of file.imports) {
    const next = target === null ? undefined : byPath.get(target);
    if (next !== undefined) walk(next, [...trail, file.path], byPath, finished, found);
  }
  finished.add(file.path);
}
