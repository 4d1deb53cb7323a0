import type { Facts } from '../request.ts';
import { recordOf } from '../wire-values.ts';
import type { WithMembers } from './members.ts';

/**
 * A caller's own label for a call. It becomes a row of reports and a cell of tables, so it is short, plain, and never looks like the
 * names in brackets that reports have of their own.
 */
const grammar = /^[A-Za-z0-9][A-Za-z0-9._:/@+=-]{0,63}$/;

export const tagRule =
  '1 to 64 letters, digits and the characters . _ : / @ + = -, of which the first is a letter or digit';

export function isTag(text: string): boolean {
  return grammar.test(text);
}

/** The label in the metadata of a body, which is the caller's in all else: what is no label there says nothing to us. */
export function taggedBy(members: WithMembers<'metadata'>): Pick<Facts, 'tag'> {
  const { tag } = recordOf(members.value('metadata'));
  return typeof tag === 'string' && isTag(tag) ? { tag } : {};
}
