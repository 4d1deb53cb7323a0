import { createHmac } from 'node:crypto';
import type { EventPhase, OperatorEvent } from '../ports/events.ts';

/** A message as it is posted; see docs/operating.md, "Webhooks". */
export interface WebhookMessage {
  /** Name, value, name, value …; the last one signs the others and the body. */
  readonly headers: readonly string[];
  readonly body: Uint8Array;
}

/** Writes a message that an event has begun or ended. Each attempt has the same id, and a time and a signature of its own. */
export function eventMessage(
  event: OperatorEvent,
  phase: EventPhase,
  deployment: string,
  secrets: readonly string[],
  nowMs: number,
): WebhookMessage {
  const id = phase === 'begun' ? event.id : `${event.id}-ended`;
  const { kind: type, firstAtMs, endedAtMs } = event;
  const timestamp = new Date(phase === 'begun' ? firstAtMs : (endedAtMs ?? nowMs)).toISOString();
  return signed(id, JSON.stringify({ type, phase, timestamp, deployment, data: event }), secrets, nowMs);
}

/** Writes a message that says nothing but that messages arrive. */
export function testMessage(
  id: string,
  deployment: string,
  secrets: readonly string[],
  nowMs: number,
): WebhookMessage {
  const timestamp = new Date(nowMs).toISOString();
  return signed(
    id,
    JSON.stringify({ type: 'test', phase: 'begun', timestamp, deployment, data: {} }),
    secrets,
    nowMs,
  );
}

/**
 * Signs as Standard Webhooks do (https://www.standardwebhooks.com): HMAC-SHA256 over id, seconds and body, by each secret. Receivers take
 * the message where one of the signatures is right.
 */
function signed(id: string, text: string, secrets: readonly string[], nowMs: number): WebhookMessage {
  const seconds = String(Math.floor(nowMs / 1000));
  const signatures = secrets.map((secret) => {
    const digest = createHmac('sha256', keyOf(secret)).update(`${id}.${seconds}.${text}`).digest('base64');
    return `v1,${digest}`;
  });
  const headers = [
    ...['content-type', 'application/json', 'user-agent', 'headgate'],
    ...['webhook-id', id, 'webhook-timestamp', seconds, 'webhook-signature', signatures.join(' ')],
  ];
  return { headers, body: Buffer.from(text) };
}

/** Libraries of that standard know a secret as `whsec_` and base64; any other text is its own bytes. */
function keyOf(secret: string): Uint8Array {
  const [, encoded] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret) ?? [];
  return encoded === undefined ? Buffer.from(secret) : Buffer.from(encoded, 'base64');
}
