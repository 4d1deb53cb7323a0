import { fingerprint, type NameRule } from '../translate/tool-names.ts';

/** Ids of calls as every server takes them: some refuse ids that are longer. */
export const callIdRule: NameRule = { legal: /[!-~]/, legalFirst: /[!-~]/, lengthMax: 40 };

const nineAlphanumerics = /^[a-zA-Z0-9]{9}$/;

/** An id for servers that take nine letters and digits, and nothing else; the same one for the same id. */
export function nineLetterId(id: string): string {
  return nineAlphanumerics.test(id) ? id : fingerprint(id).slice(0, 9);
}
