import type { Webhook } from '../catalogue/webhooks.ts';
import type { UpstreamClient, UpstreamHandler } from '../ports/upstream.ts';
import type { WebhookMessage } from './webhook-message.ts';

/** A receiver that has not answered by then has not taken the message. */
const answerMsMax = 10_000;

/**
 * Posts a message once. Resolves with null when its receiver has taken it, or with what was wrong, in words without the address; never
 * rejects. The client checks addresses as those of media, and follows nothing; of the answer no more is read than its status.
 */
export function postMessage(
  client: UpstreamClient,
  { id, url, allowPrivate, proxy }: Webhook,
  { headers, body }: WebhookMessage,
): Promise<string | null> {
  const { origin, pathname, search } = new URL(url);
  return new Promise((resolve) => {
    const finish = (problem: string | null): void => {
      clearTimeout(timer);
      resolve(problem);
    };
    const handler: UpstreamHandler = {
      onHead: ({ status }) => {
        finish(status >= 200 && status < 300 ? null : statusWords(status));
        exchange.abort();
      },
      onData: () => undefined,
      onEnd: () => finish('there was no answer'),
      onFailure: ({ kind, detail }) => finish(`${kind}: ${detail}`),
    };
    const timer = setTimeout(() => {
      finish(`no answer within ${answerMsMax / 1000} s`);
      exchange.abort();
    }, answerMsMax);
    const path = pathname + search;
    const place = { origin, path, channelId: `webhook ${id}`, allowPrivate, proxy, fresh: true };
    const exchange = client.send({ ...place, method: 'POST', headers, body: [body] }, handler);
  });
}

function statusWords(status: number): string {
  return status >= 300 && status < 400 ? `HTTP ${status}: redirects are not followed` : `HTTP ${status}`;
}
