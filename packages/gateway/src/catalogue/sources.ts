/** The source of a declared row. Applying a source replaces what that source declared before, and nothing else; what `console` declares changes by the piece. */
export type ConfigurationSource = 'demo' | 'environment' | 'file' | 'import' | 'console';

/** The source of a row, beside what it says. */
export interface Sourced {
  readonly source: ConfigurationSource | 'operator';
}
