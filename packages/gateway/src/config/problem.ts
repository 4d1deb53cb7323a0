/** One thing that is wrong with a configuration, said so that its author can mend it. */
export interface ConfigurationProblem {
  /** Where: `headgate.yaml:12:5`, `--api-port`, `HEADGATE_API_PORT`. */
  readonly where: string;
  /** Members from the root, joined with dots; empty for the whole. */
  readonly path: string;
  /** What is wrong and how to mend it. */
  readonly message: string;
}

export function describeProblem({ where, path, message }: ConfigurationProblem): string {
  return path === '' ? `${where}: ${message}` : `${where}: ${path}: ${message}`;
}
