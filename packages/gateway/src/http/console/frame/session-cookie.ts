import { createHash } from 'node:crypto';

/** How the secret of a session travels. */
export interface SessionCookie {
  readonly name: string;
  /** Hands a secret to the browser. */
  issue(secret: string): string;
  /** Takes it away again. */
  clear(): string;
  /** The secret in a `Cookie` header; null where it has none of ours. */
  read(cookies: string): string | null;
}

/**
 * Browsers hand the cookies of a host to all its ports, so the name tells deployments apart: it follows from the operator's token, of
 * which a digest's beginning says nothing. Over TLS it is a `__Host-` cookie, which no sibling of the host can set.
 */
export function sessionCookie(consoleOrigin: string | null, operatorToken: string): SessionCookie {
  const isSecure = consoleOrigin?.startsWith('https:') ?? false;
  const digest = createHash('sha256').update(`headgate console cookie\n${operatorToken}`).digest('hex');
  const name = `${isSecure ? '__Host-' : ''}headgate-${digest.slice(0, 12)}`;
  const attributes = `Path=/; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`;
  return {
    name,
    issue: (secret) => `${name}=${secret}; ${attributes}; Max-Age=604800`,
    clear: () => `${name}=; ${attributes}; Max-Age=0`,
    read: (cookies) => {
      const given = cookies.split(';').map((each) => each.trim());
      return given.find((each) => each.startsWith(`${name}=`))?.slice(name.length + 1) ?? null;
    },
  };
}
