import { fail, type Result, succeed } from '@headgate/protocols';
import type { ConfigurationProblem } from '../config/yaml-source.ts';
import type { Sourced, StoredConfiguration } from '../ports/configuration-store.ts';
import type { Store } from '../ports/store.ts';
import type { AuditTools } from './audit.ts';

/** Everything that a change of one thing of the console's takes. */
export interface PieceTools extends AuditTools {
  readonly store: Pick<Store, 'audit' | 'configuration'>;
  readonly dataDir: string;
  /** Brings what has been stored into force. */
  readonly bringIn: () => Promise<void>;
}

/** A member of a body by its path, and what is wrong with it. */
export interface FieldMistake {
  readonly field: string;
  readonly message: string;
}

/** Why nothing was done. */
export type PieceRefusal =
  | { readonly kind: 'invalid'; readonly mistakes: readonly FieldMistake[] }
  | { readonly kind: 'unknown'; readonly message: string }
  | { readonly kind: 'conflict'; readonly message: string; readonly field: string }
  /** It is not any more as whoever asks has seen it. */
  | { readonly kind: 'stale' };

/** Holds what is there now against what whoever asks has seen of it. */
export type HasSeen = (form: object) => boolean;

/** So often something else may be configured in the moment between a look and its change. */
const attemptsMax = 5;

/** Looks and changes until nothing else was configured between the two; `step` gives null where something was. */
export async function attemptPiece<Done>(
  { store, bringIn }: PieceTools,
  step: (stored: StoredConfiguration) => Promise<Result<Done | null, PieceRefusal>>,
): Promise<Result<Done, PieceRefusal>> {
  for (let left = attemptsMax; left > 0; left--) {
    const done = await step(await store.configuration.load());
    if (!done.ok) return done;
    if (done.value === null) continue;
    await bringIn();
    return succeed(done.value);
  }
  return fail({ kind: 'conflict', field: '', message: 'much is configured at this moment; try again' });
}

/** Says who has declared something, and where it is changed: `member` is its place in the file. */
export function declaredIn({ source }: Sourced, member: string): string {
  switch (source) {
    case 'file':
      return `is declared in the configuration file: change ${member} there`;
    case 'import':
      return 'was imported: import it again as it shall be';
    case 'environment':
      return 'follows from a variable of the environment: unset that, or write a configuration file';
    default:
      return 'belongs to the demo: it goes when something else is configured';
  }
}

export function invalid(mistakes: readonly FieldMistake[]): Result<never, PieceRefusal> {
  return fail({ kind: 'invalid', mistakes });
}

/** The same problems, by members of one thing: `prefix` is its place in a file. */
export function fieldsOf(problems: readonly ConfigurationProblem[], prefix: string): readonly FieldMistake[] {
  return problems.map(({ path, message }) => {
    const own = path.startsWith(prefix) ? path.slice(prefix.length).replace(/^\./, '') : path;
    return { field: own, message };
  });
}
