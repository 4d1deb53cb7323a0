import { globSync } from 'node:fs';
import { basename, join } from 'node:path';
import ts from 'typescript';
import {
  nodesOf,
  type Rule,
  repositoryRoot,
  type SourceFile,
  type Violation,
  violation,
} from './source-file.ts';

/** Ids of providers that are words of the language too, or of this program. */
const ordinaryWords: ReadonlySet<string> = new Set([
  'ambient',
  'hyperbolic',
  'inception',
  'lambda',
  'lilac',
  'morph',
  'neon',
  'poe',
  'simulator',
  'subconscious',
  'synthetic',
  'together',
  'venice',
]);

/**
 * Spellings that are not ours to choose: headers and variables that callers' own SDKs use, members that upstreams
 * put into their chunks and clients hand back, and the package that names the types of error details. They are read or written as they are; nothing is decided by whom they are named after.
 */
const foreignSpellings = [
  'anthropic-version',
  'anthropic-beta',
  'anthropic-ratelimit',
  'OPENAI_API_KEY',
  'OPENAI_BASE_URL',
  'ANTHROPIC_API_KEY',
  'ANTHROPIC_BASE_URL',
  'DEEPSEEK_API_KEY',
  'GOOGLE_GEMINI_BASE_URL',
  'x_groq',
  'google.thought_signature',
  'google.rpc',
] as const;

/** `names` are ids of providers; by default those of the catalogue. */
export function noProviderNames(names: readonly string[] = providerIds()): Rule {
  const wanted = names.filter((name) => !ordinaryWords.has(name)).map((name) => words(name).join(' '));
  // The same few thousand words make all of the code.
  const known = new Map<string, string | undefined>();
  const nameIn = (text: string): string | undefined => {
    if (!known.has(text)) known.set(text, spokenName(text, wanted));
    return known.get(text);
  };
  return {
    name: 'no name of a provider in code',
    remedy: 'describe what differs as data in catalogue/providers, or as a named dialect flag',
    check: (files) => files.filter((file) => !file.isTest).flatMap((file) => namesIn(file, nameIn)),
  };
}

function providerIds(): string[] {
  return globSync('catalogue/providers/*.json', { cwd: repositoryRoot }).map((path) =>
    basename(join(repositoryRoot, path), '.json'),
  );
}

function namesIn(file: SourceFile, nameIn: (text: string) => string | undefined): Violation[] {
  return [...nodesOf(file.tree)].flatMap((node) => {
    const text = codeText(node);
    if (text === null) return [];
    const found = nameIn(text);
    return found === undefined
      ? []
      : [violation(file, node, `“${text.slice(0, 60)}” names the provider ${found}`)];
  });
}

function spokenName(text: string, wanted: readonly string[]): string | undefined {
  const own = foreignSpellings.reduce((rest, spelling) => rest.replaceAll(spelling, ' '), text);
  const spoken = ` ${words(own).join(' ')} `;
  return wanted.find((name) => spoken.includes(` ${name} `));
}

/** The words of an identifier or a text; null for every other node. Comments are no nodes. */
function codeText(node: ts.Node): string | null {
  if (ts.isIdentifier(node)) return node.text;
  if (ts.isImportDeclaration(node.parent ?? node)) return null;
  return ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node)
    ? node.text
    : null;
}

/** `fooBar-baz_2` → foo bar baz 2. */
function words(text: string): string[] {
  return text
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '');
}
