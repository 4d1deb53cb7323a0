import { declare } from '../../catalogue/fields.ts';
import { type DeclaredWebhook, webhookFields } from '../../catalogue/webhooks.ts';
import { complain, type Declaring } from './declaring.ts';

export function declareWebhooks(declaring: Declaring): readonly DeclaredWebhook[] {
  const names = new Set<string>();
  return (declaring.file.shape.alerts?.webhooks ?? []).map(({ name: id, ...shape }, index) => {
    const path = ['alerts', 'webhooks', index];
    const webhook = { id, ...declare(webhookFields, id, shape) };
    if (names.has(id)) complain(declaring, [...path, 'name'], 'is the name of another webhook, too');
    names.add(id);
    if (!webhook.allowPrivate && webhook.url.startsWith('http:'))
      complain(declaring, [...path, 'url'], 'must be https, unless allowPrivate is true');
    return webhook;
  });
}
