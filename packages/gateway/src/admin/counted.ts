/** `1 call`, `2 calls`: for nouns whose plural is an s more. */
export function counted(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
