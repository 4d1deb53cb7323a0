import { type Fault, fault, tagRule } from '@headgate/protocols';

export const tagHeader = 'x-headgate-tag';

/** A label that is none: the caller learns what one may be. */
export function badTag(tag: string): Fault {
  const message = `The header '${tagHeader}' must be ${tagRule}, or be left out; it is '${tag.slice(0, 80)}'.`;
  return fault('invalid_request', { message, param: tagHeader });
}
