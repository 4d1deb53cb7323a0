import {
  addPasskey,
  askForOwnPasskey,
  confirmTotp,
  type NewPasskey,
  proposeTotp,
  removeIdentity,
  removePasskey,
  removeTotp,
  renewRecoveryCodes,
} from '../../admin/people/own-factors.ts';
import type { StrongerTools } from '../../admin/people/stronger-tools.ts';
import type { Factors } from '../../ports/factors.ts';
import {
  passkeyDraft,
  passkeyPatch,
  recoveryCodesView,
  securityView,
  totpConfirmationBody,
  totpProposalView,
} from './contract/security.ts';
import { passkeyQuestionView } from './contract/sign-in.ts';
import { answer, nothing, problem } from './frame/answer.ts';
import type { ConsoleApi } from './frame/console-api.ts';
import { problemOf } from './session-api.ts';

/** The source of the answers. */
export interface SecuritySources {
  readonly stronger: StrongerTools;
}

const common = { access: 'signed-in', tag: 'Security' } as const;
const noPerson = problem('forbidden', "This is about a person: the operator's token is none.");

/** All that one signs in with, seen and changed by oneself. */
export function securityApi(api: ConsoleApi, { stronger }: SecuritySources): void {
  api.route(
    {
      ...common,
      method: 'get',
      path: '/me/security',
      answer: securityView,
      summary: 'What you sign in with',
    },
    async ({ actor }) => {
      if (actor.kind !== 'person') return noPerson;
      const person = await stronger.store.people.find(actor.personId);
      const factors = await stronger.store.factors.factorsOf(actor.personId);
      return answer({ hasPassword: person !== null && person.passwordHash !== null, ...viewOf(factors) });
    },
  );
  totp(api, stronger);
  passkeys(api, stronger);
  api.route(
    {
      ...{ ...common, method: 'delete', path: '/me/identities/{id}', fresh: true, answer: null },
      summary: 'Disconnects an identity of a provider',
    },
    async ({ actor, params }) => {
      if (actor.kind !== 'person') return noPerson;
      return (await removeIdentity(stronger, actor, params.id)) ? nothing() : missing;
    },
  );
}

const missing = problem('not_found', 'You have none of that name.');

function viewOf({ hasTotp, recoveryCodesLeft, passkeys, identities }: Factors) {
  return {
    ...{ hasTotp, recoveryCodesLeft },
    passkeys: passkeys.map(({ id, name, ...at }) => ({ id, name, ...timesOf(at) })),
    identities: identities.map(({ id, issuer, label, ...at }) => ({ id, issuer, label, ...timesOf(at) })),
  };
}

function timesOf({
  createdAtMs,
  usedAtMs,
}: {
  readonly createdAtMs: number;
  readonly usedAtMs: number | null;
}) {
  const usedAt = usedAtMs === null ? null : new Date(usedAtMs).toISOString();
  return { createdAt: new Date(createdAtMs).toISOString(), usedAt };
}

function totp(api: ConsoleApi, stronger: StrongerTools): void {
  api.route(
    {
      ...{ ...common, method: 'post', path: '/me/totp', fresh: true, answer: totpProposalView },
      summary: 'Makes a secret for an authenticator app, which counts once a code of it is confirmed',
    },
    async ({ actor }) => {
      if (actor.kind !== 'person') return noPerson;
      const proposed = await proposeTotp(stronger, actor);
      return proposed.ok ? answer(proposed.value) : problemOf(proposed.error);
    },
  );
  api.route(
    {
      ...{ ...common, method: 'post', path: '/me/totp/confirm', fresh: true },
      ...{ body: totpConfirmationBody, answer: recoveryCodesView },
      summary: 'Confirms the app by a code, and answers the recovery codes, this once',
    },
    async ({ actor, body }) => {
      if (actor.kind !== 'person') return noPerson;
      const confirmed = await confirmTotp(stronger, actor, body.code);
      return confirmed.ok ? answer({ recoveryCodes: [...confirmed.value] }) : problemOf(confirmed.error);
    },
  );
  api.route(
    {
      ...{ ...common, method: 'delete', path: '/me/totp', fresh: true, answer: null },
      summary: 'Removes the app and its recovery codes',
    },
    async ({ actor }) => {
      if (actor.kind !== 'person') return noPerson;
      await removeTotp(stronger, actor);
      return nothing();
    },
  );
  api.route(
    {
      ...{ ...common, method: 'post', path: '/me/recovery-codes', fresh: true, answer: recoveryCodesView },
      summary: 'Puts new recovery codes in the place of all others, and answers them, this once',
    },
    async ({ actor }) => {
      if (actor.kind !== 'person') return noPerson;
      const renewed = await renewRecoveryCodes(stronger, actor);
      return renewed.ok ? answer({ recoveryCodes: [...renewed.value] }) : problemOf(renewed.error);
    },
  );
}

function passkeys(api: ConsoleApi, stronger: StrongerTools): void {
  api.route(
    {
      ...{
        ...common,
        method: 'post',
        path: '/me/passkeys/question',
        fresh: true,
        answer: passkeyQuestionView,
      },
      summary: 'Asks the browser for a new passkey',
    },
    async ({ actor }) => {
      if (actor.kind !== 'person') return noPerson;
      const asked = await askForOwnPasskey(stronger, actor);
      if (!asked.ok) return problemOf(asked.error);
      return answer({ ticket: asked.value.ticket, options: { ...asked.value.options } });
    },
  );
  api.route(
    {
      ...{ ...common, method: 'post', path: '/me/passkeys', fresh: true, body: passkeyDraft, answer: null },
      summary: 'Adds the passkey that the browser has made',
    },
    async ({ actor, body }) => {
      if (actor.kind !== 'person') return noPerson;
      // Its shape is looked at by the library that reads it.
      const response = body.response as unknown as NewPasskey['response'];
      const added = await addPasskey(stronger, actor, { ...body, response });
      return added.ok ? nothing() : problemOf(added.error);
    },
  );
  api.route(
    {
      ...{ ...common, method: 'patch', path: '/me/passkeys/{id}', body: passkeyPatch, answer: null },
      summary: 'Gives a passkey another name',
    },
    async ({ actor, params, body }) => {
      if (actor.kind !== 'person') return noPerson;
      const isRenamed = await stronger.store.factors.renamePasskey(actor.personId, params.id, body.name);
      return isRenamed ? nothing() : missing;
    },
  );
  api.route(
    {
      ...{ ...common, method: 'delete', path: '/me/passkeys/{id}', fresh: true, answer: null },
      summary: 'Removes a passkey',
    },
    async ({ actor, params }) => {
      if (actor.kind !== 'person') return noPerson;
      return (await removePasskey(stronger, actor, params.id)) ? nothing() : missing;
    },
  );
}
