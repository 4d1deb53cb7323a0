/** A caller's own word as it may stand in a header; `other` for what no protocol would call anything. */
export function plainWord(word: string): string {
  return /^[\w.-]{1,64}$/.test(word) ? word : 'other';
}
