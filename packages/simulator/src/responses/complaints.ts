import type { Complaint } from '../protocol.ts';

export function badRequest(code: string | null, param: string, message: string): Complaint {
  return { status: 400, code, message, param };
}

/** Names of tools may have letters, digits, underscores and dashes. */
export function nameComplaint(name: string, place: string): Complaint | null {
  if (/^[a-zA-Z0-9_-]+$/.test(name)) return null;
  const message =
    `Invalid '${place}.name': string does not match pattern. ` +
    `Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`;
  return badRequest('invalid_value', `${place}.name`, message);
}
