/**
 * What a model of this protocol understands, by the version in its name (`…-2.5-flash`). The protocol has no other way to
 * tell; a name without a version is taken for one of the newer models.
 */
export interface ModelGeneration {
  /** Whether schemas may be JSON Schema itself (`parametersJsonSchema`), and calls may be held to it (`VALIDATED`). */
  readonly knowsJsonSchema: boolean;
  /** Whether thinking is set by words. All of them know budgets. */
  readonly knowsThinkingLevels: boolean;
}

const version = /-(\d+)(?:\.(\d+))?(?=[-:@+,]|$)/;

export function generationOf(upstreamModel: string): ModelGeneration {
  const [, major, minor = '0'] = version.exec(upstreamModel) ?? [];
  if (major === undefined) return { knowsJsonSchema: true, knowsThinkingLevels: false };
  const number = Number(major) + Number(minor) / 10;
  return { knowsJsonSchema: number >= 2.5, knowsThinkingLevels: number >= 3 };
}
