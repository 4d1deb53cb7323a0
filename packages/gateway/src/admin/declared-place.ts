import { readFile } from 'node:fs/promises';

/** The line of the configuration file that declares something. */
export interface DeclaredPlace {
  readonly file: string;
  /** Null where the file is written in another way than a line for each name. */
  readonly line: number | null;
}

/**
 * Finds the line of `section.id` in a configuration file. The text is looked through and not parsed: a file of a thousand channels takes
 * longer to parse than a page may hold the loop, and a file that was changed meanwhile is as good as any.
 */
export async function declaredPlace(file: string, section: string, id: string): Promise<DeclaredPlace> {
  try {
    const text = await readFile(file, 'utf8');
    return { file, line: section === 'webhooks' ? lineOfWebhook(text, id) : lineOf(text, section, id) };
  } catch {
    return { file, line: null };
  }
}

/** Webhooks stand in a list, each with its name: no other list of `alerts` has names. */
function lineOfWebhook(text: string, id: string): number | null {
  const body = bodyOf(text, 'alerts');
  if (body === null) return null;
  const name = `(?:${escaped(id)}|"${escaped(id)}"|'${escaped(id)}')`;
  const found = new RegExp(
    `\\n[ \\t]*(?:-[ \\t]+)?(?:\\{[ \\t]*)?name:[ \\t]*${name}[ \\t]*(?:[,}#].*)?(?=\\r?\\n|$)`,
  ).exec(body.text);
  return found === null ? null : lineBreaksIn(text, body.from + found.index + 1) + 1;
}

function lineOf(text: string, section: string, id: string): number | null {
  const body = bodyOf(text, section);
  const indent = body === null ? undefined : /\n([ \t]+)[^\s#]/.exec(body.text)?.[1];
  if (body === null || indent === undefined) return null;
  const found = new RegExp(`\\n${indent}(?:${escaped(id)}|"${escaped(id)}"|'${escaped(id)}')[ \\t]*:`).exec(
    body.text,
  );
  if (found === null) return null;
  return lineBreaksIn(text, body.from + found.index + 1) + 1;
}

function bodyOf(text: string, section: string): { readonly text: string; readonly from: number } | null {
  const begin = new RegExp(`^${escaped(section)}:[ \\t]*(#.*)?$`, 'm').exec(text);
  if (begin === null) return null;
  const from = begin.index + begin[0].length;
  // The section ends where a line begins with neither a blank nor a comment.
  const length = text.slice(from).search(/\n[^\s#]/);
  return { text: length < 0 ? text.slice(from) : text.slice(from, from + length), from };
}

function escaped(text: string): string {
  return RegExp.escape(text);
}

function lineBreaksIn(text: string, end: number): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at >= 0 && at < end; at = text.indexOf('\n', at + 1)) count++;
  return count;
}
