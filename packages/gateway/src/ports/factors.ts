/** The secret of a person's authenticator app, sealed. It counts for signing in once a code of it was shown. */
export interface StoredTotp {
  readonly personId: string;
  readonly keyId: string;
  readonly sealed: string;
  readonly isConfirmed: boolean;
  /** The step of the last code that was taken. */
  readonly lastStep: number | null;
}

/** A passkey of a person. */
export interface StoredPasskey {
  readonly id: string;
  readonly personId: string;
  /** In base64url, as browsers name it. */
  readonly credentialId: string;
  /** The name that the person gave it. */
  readonly name: string;
  /** COSE, in base64url. */
  readonly publicKey: string;
  readonly counter: number;
  readonly transports: readonly string[];
  readonly createdAtMs: number;
  readonly usedAtMs: number | null;
}

/** A person is known to a provider under this subject. */
export interface StoredIdentity {
  readonly id: string;
  readonly personId: string;
  readonly issuer: string;
  readonly subject: string;
  /** As the provider last said it, for people to tell one from another; nothing is decided by it. */
  readonly label: string;
  /** The person came by it, and has the roles that the provider's claims give. */
  readonly isManaged: boolean;
  readonly createdAtMs: number;
  readonly usedAtMs: number | null;
}

/** All that a person may sign in with beside a password. */
export interface Factors {
  readonly hasTotp: boolean;
  readonly recoveryCodesLeft: number;
  readonly passkeys: readonly StoredPasskey[];
  readonly identities: readonly StoredIdentity[];
}

/** Keeps what people sign in with. Each take is one transaction: of two that come at once, one is too late. */
export interface FactorStore {
  factorsOf(personId: string): Promise<Factors>;
  findTotp(personId: string): Promise<StoredTotp | null>;
  /** In the place of one that is not confirmed; false where there is one that is. */
  proposeTotp(totp: Pick<StoredTotp, 'personId' | 'keyId' | 'sealed'>): Promise<boolean>;
  /** Takes a code's step; confirms with it, and replaces the recovery codes, where hashes are given. False where it was taken before. */
  takeTotpStep(personId: string, step: number, recoveryHashes: readonly string[] | null): Promise<boolean>;
  /** With its recovery codes. */
  removeTotp(personId: string): Promise<void>;
  replaceRecoveryCodes(personId: string, hashes: readonly string[]): Promise<void>;
  /** False where the person has none of these hashes that was not used. */
  takeRecoveryCode(personId: string, hashes: readonly string[], nowMs: number): Promise<boolean>;
  findPasskey(credentialId: string): Promise<StoredPasskey | null>;
  /** False where somebody has it already, or the person has as many as a person may have. */
  addPasskey(passkey: StoredPasskey): Promise<boolean>;
  notePasskeyUse(id: string, counter: number, nowMs: number): Promise<void>;
  renamePasskey(personId: string, id: string, name: string): Promise<boolean>;
  removePasskey(personId: string, id: string): Promise<boolean>;
  findIdentity(issuer: string, subject: string): Promise<StoredIdentity | null>;
  /** False where somebody has it already. */
  addIdentity(identity: StoredIdentity): Promise<boolean>;
  noteIdentityUse(id: string, label: string, nowMs: number): Promise<void>;
  removeIdentity(personId: string, id: string): Promise<boolean>;
}
