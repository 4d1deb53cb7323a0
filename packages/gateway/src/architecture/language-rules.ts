import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { type Rule, repositoryRoot, type SourceFile, type Violation, violation } from './source-file.ts';

/** Openings that leave a sentence without a subject, at the beginning of any line of a comment. */
const withoutSubject = /^\s*(\/\/|\*|\/\*\*) (Of|What|Whether|Where|So many|Those|Such as) /;

export const commentsHaveASubject: Rule = {
  name: 'a comment is a sentence with a subject',
  remedy: 'say who or what does it, and why; no line of a comment opens with Of, What, Whether or Where',
  check: (files) =>
    files.flatMap((file) =>
      file.tree.text.split('\n').flatMap((line, index): Violation[] => {
        if (file.isTest || !withoutSubject.test(line)) return [];
        return [{ where: `${file.path}:${index + 1}`, what: line.trim() }];
      }),
    ),
};

/** The gateway, and what all protocols share; one protocol's own folder, or the simulator, is a world of its own. */
const meetsOthers = /^packages\/(gateway\/src\/|protocols\/src\/[^/]+$)/;

export const oneNameOneMeaning: Rule = {
  name: 'an exported type of the gateway or of all protocols has a name of its own',
  remedy: 'use the type that has the name already, or find the word for what is different',
  check(files) {
    const owners = new Map<string, string>();
    return files
      .filter((file) => !file.isTest && meetsOthers.test(file.path))
      .flatMap((file) =>
        exportedTypes(file).flatMap((node): Violation[] => {
          const owner = owners.get(node.name.text);
          owners.set(node.name.text, owner ?? file.path);
          return owner === undefined || owner === file.path
            ? []
            : [violation(file, node, `${node.name.text} is also a type of ${owner}`)];
        }),
      );
  },
};

/** `glossary` is the Markdown of ARCHITECTURE.md, whose glossary's rows name a term, its meaning and the file it lives in. */
export function glossaryNamesTheCode(
  glossary = readFileSync(join(repositoryRoot, 'ARCHITECTURE.md'), 'utf8'),
): Rule {
  const rows = [...glossary.matchAll(/^\| \*\*([^|*]+)\*\* \|[^|]+\| `([^`|]+)` \|$/gm)];
  return {
    name: 'the glossary names files that are there, and words that they use',
    remedy: 'change the row of the glossary in ARCHITECTURE.md with the code',
    check(files) {
      const texts = new Map(files.map((file) => [file.path, file.tree.text.toLowerCase()]));
      return rows.flatMap(([, term = '', path = '']): Violation[] => {
        const text = texts.get(`packages/${path.replace('/', '/src/')}`);
        if (text === undefined) return [{ where: 'ARCHITECTURE.md', what: `${term}: there is no ${path}` }];
        return text.includes(term.toLowerCase().replaceAll(' ', '')) || text.includes(term.toLowerCase())
          ? []
          : [{ where: 'ARCHITECTURE.md', what: `${path} does not know the word "${term}"` }];
      });
    },
  };
}

function exportedTypes(file: SourceFile) {
  return file.tree.statements.filter(
    (node): node is ts.InterfaceDeclaration | ts.TypeAliasDeclaration =>
      (ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)) &&
      (node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) ?? false),
  );
}
