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
    for (const { field, message } of mistakesOfWebhook(webhook))
      complain(declaring, [...path, field], message);
    return webhook;
  });
}

/** Mistakes that no member has by itself. */
export function mistakesOfWebhook({ allowPrivate, url }: DeclaredWebhook) {
  if (allowPrivate || !url.startsWith('http:')) return [];
  return [{ field: 'url', message: 'must be https, unless allowPrivate is true' }];
}
