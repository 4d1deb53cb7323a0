import { fail, type Result, succeed } from '@headgate/protocols';
import type * as oauth from 'oauth4webapi';
import { grantsOf, type RoleGrant, type RoleRule } from '../../catalogue/role-rules.ts';
import type { Clock } from '../../ports/clock.ts';
import type { AskWeb } from '../../ports/web.ts';

/** The identity provider that people may sign in at, as the settings have it. */
export interface OidcSettings {
  /** Its address: where it says what it is. */
  readonly issuer: string;
  readonly clientId: string;
  /** Null for a client that has none: PKCE alone then proves that the answer is ours. */
  readonly clientSecret: string | null;
  /** The name on the button. */
  readonly name: string;
  readonly allowPrivate: boolean;
  /** The claim that roles follow from; null where they are given here. */
  readonly roleClaim: string | null;
  readonly roleRules: readonly RoleRule[];
}

/** An answer of the provider is held against these, which only the browser that asked has. */
export interface OidcQuestion {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

/** Who somebody is at the provider. */
export interface OidcIdentity {
  readonly issuer: string;
  /** Never given to another person there; all else about them may change. */
  readonly subject: string;
  readonly name: string | null;
  /** Only one that the provider has verified. */
  readonly email: string | null;
  /** Null where roles do not follow from claims. */
  readonly grants: readonly RoleGrant[] | null;
}

interface OidcTools {
  readonly askWeb: AskWeb;
  readonly clock: Clock;
  /** The address that the provider sends people back to, on the console's configured origin. */
  readonly redirectUri: string;
}

/** A provider's description of itself holds for so long. */
const metadataMs = 3_600_000;

/**
 * Sign-in at one OpenID Connect provider: authorization code with PKCE, state and nonce (RFC 9700, OpenID Connect Core 3.1). Tokens
 * are looked at once and kept nowhere.
 */
export class OidcSignIn {
  readonly settings: OidcSettings;
  readonly #tools: OidcTools;
  readonly #keys: oauth.JWKSCacheInput = {};
  #metadata: { readonly server: oauth.AuthorizationServer; readonly untilMs: number } | null = null;

  constructor(settings: OidcSettings, tools: OidcTools) {
    this.settings = settings;
    this.#tools = tools;
  }

  /** Gives the address that the browser goes to, and what it must bring back. The error is for the operator. */
  async begin(): Promise<Result<{ readonly url: string; readonly question: OidcQuestion }, string>> {
    const library = await import('oauth4webapi');
    try {
      const { authorization_endpoint: endpoint } = await this.#server(library);
      if (endpoint === undefined) return fail('the provider names no authorization endpoint');
      const question = {
        state: library.generateRandomState(),
        nonce: library.generateRandomNonce(),
        verifier: library.generateRandomCodeVerifier(),
      };
      const url = new URL(endpoint);
      const parameters = {
        client_id: this.settings.clientId,
        redirect_uri: this.#tools.redirectUri,
        response_type: 'code',
        scope: 'openid email profile',
        code_challenge: await library.calculatePKCECodeChallenge(question.verifier),
        code_challenge_method: 'S256',
        state: question.state,
        nonce: question.nonce,
      };
      for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
      return succeed({ url: url.href, question });
    } catch (error) {
      return fail(wordsOf(error));
    }
  }

  /** Who came back, from the parameters of the address they came back to. The error is for the operator. */
  async finish(parameters: URLSearchParams, question: OidcQuestion): Promise<Result<OidcIdentity, string>> {
    const library = await import('oauth4webapi');
    try {
      const server = await this.#server(library);
      const { clientId, clientSecret } = this.settings;
      const client = { client_id: clientId };
      const given = library.validateAuthResponse(server, client, parameters, question.state);
      const proof = clientSecret === null ? library.None() : secretProof(library, server, clientSecret);
      const options = this.#options(library);
      const answer = await library.authorizationCodeGrantRequest(
        ...([server, client, proof, given, this.#tools.redirectUri, question.verifier, options] as const),
      );
      const tokens = await library.processAuthorizationCodeResponse(server, client, answer, {
        expectedNonce: question.nonce,
        requireIdToken: true,
      });
      // The way to the token endpoint is proof enough (Core 3.1.3.7); a signature that is wrong is refused all the same.
      await library.validateApplicationLevelSignature(server, answer, {
        ...options,
        [library.jwksCache]: this.#keys,
      });
      const claims = library.getValidatedIdTokenClaims(tokens);
      if (claims === undefined) return fail('the provider sent no identity');
      const more = await this.#userInfo(library, server, client, tokens.access_token, claims.sub);
      return succeed(this.#identityOf({ ...more, ...claims }));
    } catch (error) {
      return fail(wordsOf(error));
    }
  }

  /** Many providers tell names and groups only there. */
  async #userInfo(
    library: typeof oauth,
    server: oauth.AuthorizationServer,
    client: oauth.Client,
    token: string,
    subject: string,
  ): Promise<Readonly<Record<string, unknown>>> {
    if (server.userinfo_endpoint === undefined) return {};
    const answer = await library.userInfoRequest(server, client, token, this.#options(library));
    return library.processUserInfoResponse(server, client, subject, answer);
  }

  #identityOf(claims: Readonly<Record<string, unknown>>): OidcIdentity {
    const { roleClaim, roleRules } = this.settings;
    const text = (name: string) => {
      const value = claims[name];
      return typeof value === 'string' && value.trim() !== '' ? value.trim().slice(0, 200) : null;
    };
    return {
      issuer: String(claims['iss']),
      subject: String(claims['sub']),
      name: text('name') ?? text('preferred_username'),
      email: claims['email_verified'] === true ? text('email') : null,
      grants: roleClaim === null ? null : grantsOf(roleRules, claims[roleClaim]),
    };
  }

  async #server(library: typeof oauth): Promise<oauth.AuthorizationServer> {
    const { clock } = this.#tools;
    if (this.#metadata !== null && this.#metadata.untilMs > clock.now()) return this.#metadata.server;
    const issuer = new URL(this.settings.issuer);
    const answer = await library.discoveryRequest(issuer, this.#options(library));
    const server = await library.processDiscoveryResponse(issuer, answer);
    this.#metadata = { server, untilMs: clock.now() + metadataMs };
    return server;
  }

  /** Every connection goes through the guard; plain HTTP only where the operator lets it lead to a private network. */
  #options(library: typeof oauth) {
    const { allowPrivate } = this.settings;
    return {
      [library.allowInsecureRequests]: allowPrivate,
      [library.customFetch]: (
        url: string,
        { method, headers, body }: { method: string; headers: Record<string, string>; body?: unknown },
      ) =>
        this.#tools.askWeb({
          ...{ url, method, headers, allowPrivate },
          body: body === undefined || body === null ? null : String(body),
        }),
    };
  }
}

/** As the provider takes it: in the body where it says so and names nothing better. */
function secretProof(
  library: typeof oauth,
  server: oauth.AuthorizationServer,
  secret: string,
): oauth.ClientAuth {
  const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
  return methods.includes('client_secret_basic')
    ? library.ClientSecretBasic(secret)
    : library.ClientSecretPost(secret);
}

/** The library's own words, with those of the provider: its answer is `cause` in most of the library's errors. */
function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const more = ['status', 'error', 'error_description'].flatMap((name) => {
    const value: unknown = Reflect.get(error, name);
    return typeof value === 'string' || typeof value === 'number' ? [String(value)] : [];
  });
  return [error.message, ...more].join(': ').slice(0, 500);
}
