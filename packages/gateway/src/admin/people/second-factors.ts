import { fail, type Result, succeed } from '@headgate/protocols';
import type { Clock } from '../../ports/clock.ts';
import type { FactorStore } from '../../ports/factors.ts';
import type { Store } from '../../ports/store.ts';
import type { Peppers } from '../owner-files.ts';
import { openAt, openSealingKeys, type SealedPlace, sealAt } from '../secrets/sealed-secrets.ts';
import { makeRecoveryCodes, oneTimeHashes, readRecoveryCode } from './one-time-secrets.ts';
import { makeTotpSecret, matchTotp, totpUri } from './totp.ts';

export interface SecondFactorTools {
  readonly store: Pick<Store, 'factors'>;
  readonly peppers: Peppers;
  /** Holds the key that secrets are sealed under. */
  readonly dataDir: string;
  /** Apps show it beside the code. */
  readonly deployment: () => string;
  readonly clock: Clock;
}

/** A secret on its way into somebody's app. */
export interface TotpProposal {
  /** For who writes it by hand. */
  readonly secret: string;
  /** For the picture. */
  readonly uri: string;
}

/** The ways to prove a second time that it is you. */
export type SecondProof = 'totp' | 'recovery-code';

/** Codes of authenticator apps, and the recovery codes for who has lost theirs. */
export class SecondFactors {
  readonly #tools: SecondFactorTools;

  constructor(tools: SecondFactorTools) {
    this.#tools = tools;
  }

  /** Empty for who signs in with a password alone. */
  async methodsOf(personId: string): Promise<readonly SecondProof[]> {
    const { hasTotp, recoveryCodesLeft } = await this.#tools.store.factors.factorsOf(personId);
    if (!hasTotp) return [];
    return recoveryCodesLeft > 0 ? ['totp', 'recovery-code'] : ['totp'];
  }

  /** Makes a secret that counts as soon as a code of it is confirmed. The error is for the person. */
  async propose(personId: string, email: string): Promise<Result<TotpProposal, string>> {
    const { store, dataDir, deployment } = this.#tools;
    const keys = openSealingKeys(dataDir);
    if (!keys.ok) return fail(keys.error);
    const secret = makeTotpSecret();
    const sealed = sealAt(keys.value, placeOf(personId), secret);
    if (!(await store.factors.proposeTotp({ personId, ...sealed }))) return fail(already);
    return succeed({ secret, uri: totpUri(secret, deployment(), email) });
  }

  /** Confirms the secret by a code of it, and gives the recovery codes: the only time that anybody sees them. */
  async confirm(
    personId: string,
    code: string,
    factors: FactorStore = this.#tools.store.factors,
  ): Promise<Result<readonly string[], string>> {
    const codes = makeRecoveryCodes();
    const isTaken = await this.#takeCode(personId, code, this.#hashesOf(codes), factors);
    return isTaken ? succeed(codes) : fail(wrongCode);
  }

  /** Takes a code of the app or a recovery code, which is good no more then; null when it is neither. */
  async prove(personId: string, code: string): Promise<SecondProof | null> {
    const { store, peppers, clock } = this.#tools;
    if (await this.#takeCode(personId, code, null, store.factors)) return 'totp';
    const recovery = readRecoveryCode(code);
    if (recovery === null) return null;
    const hashes = oneTimeHashes(peppers, 'recovery-code', recovery);
    const isTaken = await store.factors.takeRecoveryCode(personId, hashes, clock.now());
    return isTaken ? 'recovery-code' : null;
  }

  /** Puts new recovery codes in the place of all that there are; fails for who has no app that they would stand in for. */
  async renewRecoveryCodes(
    personId: string,
    factors: FactorStore = this.#tools.store.factors,
  ): Promise<Result<readonly string[], string>> {
    if (!(await factors.factorsOf(personId)).hasTotp) return fail(noApp);
    const codes = makeRecoveryCodes();
    await factors.replaceRecoveryCodes(personId, this.#hashesOf(codes));
    return succeed(codes);
  }

  remove(personId: string): Promise<void> {
    return this.#tools.store.factors.removeTotp(personId);
  }

  async #takeCode(
    personId: string,
    code: string,
    recoveryHashes: readonly string[] | null,
    factors: FactorStore,
  ): Promise<boolean> {
    const { dataDir, clock } = this.#tools;
    const stored = await factors.findTotp(personId);
    const keys = openSealingKeys(dataDir);
    if (stored === null || !keys.ok) return false;
    const secret = openAt(keys.value, placeOf(personId), stored);
    const step = secret.ok ? matchTotp(secret.value, code, clock.now(), stored.lastStep) : null;
    return step !== null && factors.takeTotpStep(personId, step, recoveryHashes);
  }

  #hashesOf(codes: readonly string[]): readonly string[] {
    const { peppers } = this.#tools;
    return codes.map((code) => oneTimeHashes(peppers, 'recovery-code', readRecoveryCode(code) ?? '')[0]);
  }
}

function placeOf(personId: string): SealedPlace {
  return ['totp', personId, 'secret'];
}

const already = 'An authenticator app is set up already: remove it first.';
const wrongCode =
  'This code is not right: enter the one that the app shows now. If it never is, set the clock of your device.';
const noApp = 'Set up an authenticator app first: recovery codes stand in for it.';
