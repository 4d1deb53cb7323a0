import { Fingerprint, type HeaderLookup, type SessionClue } from '@headgate/protocols';

/** Ours, for callers that know what belongs together: it goes before whatever else is said. */
const ownHeader = 'x-headgate-session';

/** Headers that agents and chat front ends send with every call of a session, the narrower name first where they send two. */
const agentHeaders = [
  'x-claude-code-session-id',
  // Codex: a thread of a session; with underscores in its earlier versions.
  'thread-id',
  'session-id',
  'session_id',
  'conversation_id',
  // opencode and those that come from it
  'x-session-affinity',
  'x-opencode-session',
  'x-kilocode-taskid',
  'x-qwen-code-session-id',
  // Copilot
  'x-client-session-id',
  'x-openwebui-chat-id',
  'x-litellm-session-id',
  'x-conversation-id',
  'x-session-id',
] as const;

/** Who calls, and what the call says of its session. */
interface SessionSource {
  readonly accountId: string;
  readonly header: HeaderLookup;
  /** The body's clue; asked for only where no header of ours names the session. */
  readonly sessionClue: () => SessionClue | null;
}

/** Only answers have one. */
export const noSession = (): null => null;

/** Named when it is first asked for, and kept. */
export function sessionOf(source: SessionSource): () => string | null {
  let named: string | null | undefined;
  return () => {
    if (named === undefined) named = sessionIdentity(source);
    return named;
  };
}

/**
 * The session a call belongs to (routing.md, "Affinity"): its own header, then a name in the body, then the header of a
 * known agent, then how the conversation began. Null when none of them says anything.
 *
 * It is always one account's: conversations of two tenants never meet, whatever they are called. It is not one key's: the
 * keys of an account are those of the same people, who go on with a conversation under a new key, and upstreams
 * keep caches for the channel and not for the key. Names are kept as fingerprints, so it is short whatever they are,
 * and tells nobody what they were.
 */
export function sessionIdentity({ accountId, header, sessionClue }: SessionSource): string | null {
  const own = namedBy(ownHeader, header);
  if (own !== null) return identityOf(accountId, 'own', own);
  const clue = sessionClue();
  const agents = clue === null || clue.kind === 'opening' ? namedByAgent(header) : null;
  if (agents !== null) return identityOf(accountId, 'agent', agents);
  return clue === null ? null : identityOf(accountId, clue.kind, clue.fingerprint);
}

/** Names of different sources never meet either. */
function identityOf(
  accountId: string,
  source: 'own' | 'agent' | SessionClue['kind'],
  fingerprint: number,
): string {
  return `${accountId} ${source} ${fingerprint.toString(36)}`;
}

function namedByAgent(header: HeaderLookup): number | null {
  for (const name of agentHeaders) {
    const named = namedBy(name, header);
    if (named !== null) return named;
  }
  return null;
}

function namedBy(name: string, header: HeaderLookup): number | null {
  const value = header(name)?.trim() ?? '';
  if (value === '') return null;
  const fingerprint = new Fingerprint();
  fingerprint.addText(value);
  return fingerprint.value;
}
