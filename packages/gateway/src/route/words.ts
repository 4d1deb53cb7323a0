import type { Channel } from '../catalogue/catalogue.ts';
import { type Outcome, rowOf } from './outcomes.ts';

/** A shorter beginning of a secret betrays nothing of it. */
const tellingLength = 4;

/** An attempt in words for the operator, who is told all but our secrets: some upstreams repeat them. Null where there is nothing to say. */
export function wordsOn(outcome: Outcome, channel: Pick<Channel, 'credentials' | 'secrets'>): string | null {
  const said = saidOf(outcome);
  return said === null ? null : withoutSecrets(said, channel);
}

/** An upstream's words without what we sent it in confidence. */
export function withoutSecrets(
  text: string,
  { credentials, secrets }: Pick<Channel, 'credentials' | 'secrets'>,
): string {
  return [...credentials.map(({ secret }) => secret), ...secrets].reduce(withoutSecret, text);
}

function saidOf(outcome: Outcome): string | null {
  if (outcome.kind === 'refused') return `${outcome.refusal.kind}: ${outcome.refusal.message}`;
  return 'detail' in outcome ? outcome.detail : rowOf(outcome).words;
}

/** The words of an upstream are cut to a length, perhaps in the middle of a secret. */
function withoutSecret(text: string, secret: string): string {
  if (secret === '') return text;
  const whole = text.replaceAll(secret, '[key]');
  for (let length = secret.length - 1; length >= tellingLength; length--) {
    if (whole.endsWith(secret.slice(0, length))) return `${whole.slice(0, -length)}[key]`;
  }
  return whole;
}
