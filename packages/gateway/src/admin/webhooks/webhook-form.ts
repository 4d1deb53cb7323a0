import { fail, type Result, succeed } from '@headgate/protocols';
import { stringify } from 'yaml';
import { z } from 'zod';
import { declare, membersOf } from '../../catalogue/fields.ts';
import { type DeclaredWebhook, webhookFields } from '../../catalogue/webhooks.ts';
import { shapeProblems } from '../../config/configuration-file.ts';
import { plainSource } from '../../config/plain-source.ts';
import { mistakesOfWebhook } from '../declare/declare-webhooks.ts';
import { exportWebhook } from '../export-configuration.ts';
import { type FieldMistake, fieldsOf } from '../piecewise.ts';

/** A webhook as the console writes it: as in a configuration file, but that its secret is made here. */
export const webhookShape = z
  .strictObject(membersOf(webhookFields), { error: 'must be an object of members' })
  .omit({ secret: true });

/** The same members as the configuration file has; its name stands beside them. */
export function webhookFormOf(webhook: DeclaredWebhook): object {
  const { name: _, ...form } = exportWebhook(webhook);
  return form;
}

/** Reads a webhook written so. Every member that is wrong is named. */
export function readWebhookForm(id: string, form: unknown): Result<DeclaredWebhook, readonly FieldMistake[]> {
  const source = plainSource(form, () => '');
  const read = webhookShape.safeParse(form);
  if (!read.success) return fail(fieldsOf(shapeProblems(source, webhookShape, read.error), ''));
  const webhook = { id, ...declare(webhookFields, id, read.data) };
  const mistakes = mistakesOfWebhook(webhook);
  return mistakes.length === 0 ? succeed(webhook) : fail(mistakes);
}

/** A webhook as a configuration file declares it. What the store keeps of its secret is no part of it. */
export function webhookText(webhook: DeclaredWebhook): string {
  return stringify({ alerts: { webhooks: [exportWebhook(webhook)] } }, { lineWidth: 0 });
}
