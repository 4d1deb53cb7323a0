/**
 * Headers that belong to one hop (RFC 9110, 7.6.1), that HTTP sets itself, that tell who a caller is, or that carry a credential. A caller's
 * never go upstream, and no channel sets them.
 */
const withheld: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'host',
  'content-length',
  'expect',
  'cookie',
  'forwarded',
  'via',
  'x-real-ip',
  'authorization',
  'x-api-key',
  'x-goog-api-key',
  'x-neutral-api-key',
]);

/** Headers that say how a body is to be read: what they are is decided for each call. */
const ofBodies: ReadonlySet<string> = new Set([
  'accept',
  'accept-encoding',
  'content-encoding',
  'content-type',
]);

/** In lower case. */
export function isWithheld(name: string): boolean {
  return withheld.has(name) || name.startsWith('x-forwarded-');
}

/** Tells if an operator may set the header on all calls of a channel. In lower case. */
export function isChannelHeader(name: string): boolean {
  return !isWithheld(name) && !ofBodies.has(name) && name !== 'api-key';
}
