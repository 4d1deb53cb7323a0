import type { Result } from '@headgate/protocols';
import type { KeyStatus } from '../catalogue/catalogue.ts';
import type {
  DeclaredAccount,
  DeclaredChannel,
  DeclaredGroup,
  DeclaredKey,
  DeclaredModel,
} from '../catalogue/entities.ts';
import type { LimitMistake } from '../catalogue/limit-fields.ts';
import type { LimitPatch } from '../catalogue/limit-patch.ts';
import type { OwnerKind } from '../catalogue/limits.ts';
import type { PriceOrigin } from '../catalogue/price-book.ts';
import type { SealedSecret, SealedSigningSecret } from '../catalogue/secret-source.ts';
import type { ConfigurationSource, Sourced } from '../catalogue/sources.ts';
import type { DeclaredWebhook } from '../catalogue/webhooks.ts';
import type { PriceTier } from '../money/price.ts';

export type { ConfigurationSource, Sourced } from '../catalogue/sources.ts';

/** Everything one source declares. Providers are catalogue data or the file's own, as JSON documents by id. */
export interface Declaration {
  readonly providers: Readonly<Record<string, string>>;
  readonly accounts: readonly DeclaredAccount[];
  readonly groups: readonly DeclaredGroup[];
  readonly models: readonly DeclaredModel[];
  readonly channels: readonly DeclaredChannel[];
  readonly keys: readonly DeclaredKey[];
  /** None where it is left out. */
  readonly webhooks?: readonly DeclaredWebhook[];
}

export interface StoredKey extends DeclaredKey, Sourced {
  readonly status: KeyStatus;
  readonly createdAtMs: number;
  /** Set while a rotated key still works beside its successor. */
  readonly retiresAtMs: number | null;
  /** Key that replaced this one. */
  readonly replacedBy: string | null;
}

/** A credential of a channel that the store keeps, sealed under a key that it does not have. */
export interface StoredCredential extends SealedSecret {
  readonly name: string;
  readonly createdAtMs: number;
  /** When its secret was last exchanged; null if it never was. */
  readonly rotatedAtMs: number | null;
}

/** A setting as the console keeps it: its text, or, of a secret, what it is sealed as. */
export interface StoredSetting {
  readonly name: string;
  readonly text: string | null;
  readonly sealed: Pick<SealedSecret, 'keyId' | 'sealed'> | null;
  readonly changedAtMs: number;
}

/** A secret that messages of a webhook are signed with, sealed as a credential is. */
export interface StoredSigningSecret extends SealedSigningSecret {
  readonly createdAtMs: number;
}

/** A signing secret that is to be stored. */
export type NewSigningSecret = Omit<StoredSigningSecret, 'kind' | 'retiresAtMs' | 'createdAtMs'>;

/** A price as stored: immutable. Which version holds when is said by `catalogue/price-timeline.ts`. */
export interface StoredPrice {
  /** `model:ID` for what callers pay, `channel:CHANNEL/MODEL` for what we pay. */
  readonly subject: string;
  readonly version: string;
  readonly effectiveFromMs: number;
  /** Empty where it withdraws what its source said before. */
  readonly tiers: readonly PriceTier[];
  /** Null of what a channel costs, and where it was not noted. */
  readonly origin: PriceOrigin | null;
  /** Null where it was not noted: then no operator wrote it by a command. */
  readonly source: ConfigurationSource | 'operator' | null;
  readonly writtenAtMs: number;
}

/** A price that the operator writes by a command, beside what files declare. */
export interface OperatorPrice {
  readonly subject: string;
  /** When it begins, later than now; null is at once. */
  readonly fromMs: number | null;
  /** Empty gives the subject back to what files and the catalogue say. */
  readonly tiers: readonly PriceTier[];
  readonly origin: PriceOrigin | null;
  /** Takes back what the operator has planned for later. */
  readonly dropsPlanned: boolean;
}

export interface StoredConfiguration
  extends Omit<Declaration, 'keys' | 'accounts' | 'groups' | 'channels' | 'models' | 'webhooks'> {
  readonly revision: number;
  readonly channels: readonly (DeclaredChannel & Sourced)[];
  readonly models: readonly (DeclaredModel & Sourced)[];
  readonly accounts: readonly (DeclaredAccount & Sourced)[];
  readonly groups: readonly (DeclaredGroup & Sourced)[];
  readonly keys: readonly StoredKey[];
  readonly webhooks?: readonly (DeclaredWebhook & Sourced)[];
  /** Each webhook has its newest first. */
  readonly signingSecrets?: readonly StoredSigningSecret[];
  /** In the order in which they were added. */
  readonly credentials: readonly StoredCredential[];
  /** Every version of every price, those of one subject in the order in which they were written. */
  readonly prices: readonly StoredPrice[];
  /** None where it is left out. */
  readonly settings?: readonly StoredSetting[];
}

/** One line of what applying a declaration changed. */
export interface ConfigurationChange {
  readonly kind: 'provider' | 'account' | 'group' | 'model' | 'channel' | 'key' | 'price' | 'webhook';
  readonly id: string;
  /** `refused`: another source declares a row of this id, or has this very key, or the key was revoked; what it declares was left alone. */
  readonly change: 'added' | 'changed' | 'removed' | 'refused';
}

/** Rows of a kind that a source would take away, of those that are in force, and those that it would add. */
export interface Removal {
  readonly kind: 'channel' | 'key';
  readonly removed: number;
  readonly added: number;
  readonly inForce: number;
}

/** A channel as the console wants it, and the models that it serves before anybody has named them. */
export interface ChannelWish {
  readonly channel: DeclaredChannel;
  readonly models: readonly DeclaredModel[];
}

/** A change of an owner: the members that it named, as they were and as they are. */
export interface Amendment {
  readonly name: string;
  /** The account that it belongs to; null of a group. */
  readonly accountId: string | null;
  readonly before: Readonly<Record<string, unknown>>;
  readonly after: Readonly<Record<string, unknown>>;
}

/** Why an owner is not changed. */
export type AmendRefusal =
  | { readonly kind: 'unknown' }
  | { readonly kind: 'declared' }
  | { readonly kind: 'mistaken'; readonly mistakes: readonly LimitMistake[] };

/** Why a group is not taken away: nobody knows it, a file declares it, or keys belong to it. */
export type GroupRemovalRefusal = 'unknown' | 'declared' | 'in-use';

/** Configuration as the control plane changes it. Every change is one transaction and raises the revision. */
export interface ConfigurationStore {
  /** Cheap; asked several times a second to notice changes made by other processes. */
  revision(): Promise<number>;
  load(): Promise<StoredConfiguration>;
  /** The settings that were made in the console, by name. */
  settings(): Promise<readonly StoredSetting[]>;
  /** Puts settings in the place of those of their names, and takes others away. */
  putSettings(settings: readonly StoredSetting[], removed: readonly string[]): Promise<void>;
  /**
   * Replaces what `source` declared, and withdraws all that the sources of `withdrawn` declared. A row another source
   * declared is left alone and reported as an error. Removed keys are revoked, never deleted, and removed models and
   * channels are kept for the ledger's sake, disabled and hidden. A price that differs from the version in force
   * becomes a new version from `nowMs` on, or from the moment it is declared for. What the operator has set by a command is left
   * alone, and stands before it.
   */
  apply(
    source: ConfigurationSource,
    declaration: Declaration,
    nowMs: number,
    withdrawn?: readonly ConfigurationSource[],
  ): Promise<readonly ConfigurationChange[]>;
  /**
   * Counts what `source` would take away if this were applied, and changes nothing. A key that goes on under another id is not taken
   * away, and rows of the sources of `withdrawn` do not count.
   */
  removals(
    source: ConfigurationSource,
    declaration: Declaration,
    withdrawn?: readonly ConfigurationSource[],
  ): Promise<readonly Removal[]>;
  /**
   * Puts a channel of the console's in the place of what is stored under its id, with its models and what they cost. False where
   * something has been configured since `revision`: whoever asks looks again whether it may.
   */
  putChannel(wish: ChannelWish, revision: number, nowMs: number): Promise<boolean>;
  /** Takes a channel away, and the console's models that no other channel serves. False as above. */
  removeChannel(id: string, revision: number): Promise<boolean>;
  /** Writes prices of the operator's own, all in one transaction. Names those that changed anything. */
  setPrices(prices: readonly OperatorPrice[], nowMs: number): Promise<readonly ConfigurationChange[]>;
  insertKey(key: DeclaredKey, nowMs: number): Promise<void>;
  /** Adds an account of the operator's. One that nobody declares any more comes back, with its balance. False when there is one. */
  insertAccount(account: DeclaredAccount): Promise<boolean>;
  /** As `insertAccount`. */
  insertGroup(group: DeclaredGroup): Promise<boolean>;
  /** Its row is kept for the ledger's sake. */
  removeGroup(id: string): Promise<Result<null, GroupRemovalRefusal>>;
  /** Changes an owner as it is now, unless a file declares it: then the file says what it is. */
  amendLimits(owner: OwnerKind, id: string, patch: LimitPatch): Promise<Result<Amendment, AmendRefusal>>;
  addCredential(
    credential: Omit<StoredCredential, 'kind' | 'createdAtMs' | 'rotatedAtMs'>,
    nowMs: number,
  ): Promise<void>;
  /** Seals the same credential anew. False when there is none of this id. */
  rotateCredential(
    id: string,
    sealed: Pick<StoredCredential, 'keyId' | 'sealed'>,
    nowMs: number,
  ): Promise<boolean>;
  /** Its row is gone afterwards, the sealed secret with it. False when there is none of this id. */
  removeCredential(id: string): Promise<boolean>;
  /** Makes a webhook of the console's, with its secret; what another of its name has left behind goes. False as of `putChannel`. */
  insertWebhook(
    webhook: DeclaredWebhook,
    secret: NewSigningSecret,
    revision: number,
    nowMs: number,
  ): Promise<boolean>;
  /** Puts a webhook of the console's in the place of what is stored under its id. False as above. */
  putWebhook(webhook: DeclaredWebhook, revision: number): Promise<boolean>;
  /** Takes a webhook away, its secrets and its messages with it. False as above. */
  removeWebhook(id: string, revision: number): Promise<boolean>;
  /** Gives a webhook another secret. The one in force signs beside it until `retiresAtMs`. False as above. */
  rotateSigningSecret(
    secret: NewSigningSecret,
    retiresAtMs: number,
    revision: number,
    nowMs: number,
  ): Promise<boolean>;
  /** False when there is no such key, or it is revoked already: that is for good. */
  setKeyStatus(id: string, status: KeyStatus): Promise<boolean>;
  /** Inserts the successor and lets the old key work until `retiresAtMs`. False when there is no such active key. */
  rotateKey(id: string, successor: DeclaredKey, retiresAtMs: number, nowMs: number): Promise<boolean>;
}
