/** Where a command writes. Results go to standard output, everything else to standard error. */
export interface Output {
  /** Whether results are JSON for programs. */
  readonly json: boolean;
  /** Whether standard output shows colour. */
  readonly color: boolean;
  write(text: string): void;
  writeError(text: string): void;
}

/** Prints a result: the value for programs, or the text for people. */
export function printResult(output: Output, value: unknown, text: string): void {
  output.write(output.json ? `${jsonText(value)}\n` : `${text}\n`);
}

/** Prints why a command ends early. */
export function printFailure(output: Output, messages: readonly string[]): void {
  if (output.json) output.write(`${jsonText({ errors: messages })}\n`);
  else for (const message of messages) output.writeError(`headgate: ${message}\n`);
}

/** JSON in which integers beyond 2^53 are strings, as everywhere in Headgate. */
export function jsonText(value: unknown, indent?: number): string {
  return JSON.stringify(
    value,
    (_, member: unknown) => (typeof member === 'bigint' ? member.toString() : member),
    indent,
  );
}
