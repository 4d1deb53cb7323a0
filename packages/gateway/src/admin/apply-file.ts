import { type Result, succeed } from '@headgate/protocols';
import type { ConfigurationFile } from '../config/configuration-file.ts';
import type { ConfigurationProblem } from '../config/yaml-source.ts';
import { type Environment, readSettings } from '../config.ts';
import type { Clock } from '../ports/clock.ts';
import type { ConfigurationChange, ConfigurationStore, Declaration } from '../ports/configuration-store.ts';
import type { CatalogueFiles } from './catalogue-files.ts';
import { declareFile } from './declare/declare-file.ts';
import { keyHashes } from './keys.ts';
import type { Peppers } from './owner-files.ts';
import { automaticSources } from './self-configuration.ts';

export interface ApplyTools {
  readonly store: ConfigurationStore;
  readonly catalogueFiles: CatalogueFiles;
  readonly environment: Environment;
  readonly peppers: Peppers;
  readonly clock: Clock;
}

export type FileApplied =
  | {
      readonly kind: 'applied';
      readonly changes: readonly ConfigurationChange[];
    }
  /** Nothing was changed: the file would take away so much that someone has to say that it is meant. */
  | { readonly kind: 'withheld'; readonly reason: string };

export interface ApplyOptions {
  /** True when the operator has said that the file is meant as it is. */
  readonly isForced: boolean;
  /** The text that was applied before, where it is known. */
  readonly previousText: string | null;
}

/** Applies a configuration file whole, or not at all. */
export async function applyFile(
  tools: ApplyTools,
  file: ConfigurationFile,
  { isForced, previousText }: ApplyOptions,
): Promise<Result<FileApplied, readonly ConfigurationProblem[]>> {
  const settings = readSettings({ flags: {}, environment: () => undefined, file });
  if (!settings.ok) return settings;
  const nowMs = tools.clock.now();
  const declared = declareFile(file, {
    catalogue: tools.catalogueFiles,
    environment: tools.environment,
    ...keyHashes(tools.peppers),
    nowMs,
  });
  if (!declared.ok) return declared;
  const reason = isForced
    ? null
    : await reasonToWithhold(tools.store, declared.value, file.text, previousText);
  if (reason !== null) return succeed({ kind: 'withheld', reason });
  const changes = await tools.store.apply('file', declared.value, nowMs, automaticSources);
  return succeed({ kind: 'applied', changes });
}

/** A file that was emptied, cut or exchanged would turn every caller away. It is told from an edit by how much would go. */
export async function reasonToWithhold(
  store: ConfigurationStore,
  declaration: Declaration,
  text = '',
  previousText: string | null = null,
): Promise<string | null> {
  const removals = await store.removals('file', declaration, automaticSources);
  const losses = removals.filter(({ removed }) => removed > 0);
  if (losses.length === 0) return null;
  const words = (which: typeof losses) =>
    which.map(({ kind, removed, inForce }) => `${removed} of ${inForce} ${kind}s`).join(' and ');
  if (declaration.channels.length + declaration.keys.length === 0)
    return `it declares no channel and no key, and would remove ${words(losses)}`;
  if (isCut(text, previousText)) return `it ends in the middle of a line, and would remove ${words(losses)}`;
  const most = losses.filter(
    // One for another is an edit, and most of what a small house has.
    ({ removed, added, inForce }) => removed * 2 > inForce && !(removed === 1 && added > 0),
  );
  return most.length === 0 ? null : `it would remove ${words(most)}`;
}

/** The beginning of the text before it, up to the middle of a line: whoever wrote it has not come to the end. */
function isCut(text: string, previousText: string | null): boolean {
  if (previousText === null || text.length >= previousText.length) return false;
  return (
    previousText.startsWith(text) && !/\n$/.test(text) && !/^\r?\n/.test(previousText.slice(text.length))
  );
}
