/** An expected outcome as a value: failures that callers must handle are returned, never thrown. */
export type Result<Value, Failure> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly error: Failure };

export function succeed<Value>(value: Value): { readonly ok: true; readonly value: Value } {
  return { ok: true, value };
}

export function fail<Failure>(error: Failure): { readonly ok: false; readonly error: Failure } {
  return { ok: false, error };
}

/** Closes an exhaustive switch: a new member of the union fails to compile here. */
export function unreachable(value: never): never {
  throw new Error(`unreachable: ${String(value)}`);
}
