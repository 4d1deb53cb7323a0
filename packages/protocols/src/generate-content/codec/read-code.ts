import { stringOf, type WireRecord } from '../../wire-values.ts';

/** Code the model ran at the vendor's, for protocols that have no such parts. */
export function readCode({ language, code }: WireRecord): string {
  return fenced(stringOf(language)?.toLowerCase() ?? '', stringOf(code) ?? '');
}

/** What came of it. */
export function readCodeResult({ output }: WireRecord): string {
  return fenced('', stringOf(output) ?? '');
}

function fenced(language: string, text: string): string {
  const name = /^[a-z]+$/.test(language) ? language : '';
  return `\n\`\`\`${name}\n${text.trimEnd()}\n\`\`\`\n`;
}
