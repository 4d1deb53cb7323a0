import { fail, type Result, succeed } from '@headgate/protocols';

/** A longer text is no credential. */
const lengthMax = 65_536;

/** The key that a person presses to give up. */
const interrupt = '\u0003';
const endOfInput = '\u0004';
const backspaces: ReadonlySet<string> = new Set(['\u007f', '\b']);

/** Standard input, as far as reading a secret needs it. */
export interface SecretStream extends AsyncIterable<unknown> {
  readonly isTTY: boolean;
  /** `true`: keys come one by one, and the terminal does not show them. */
  setRawMode(isRaw: boolean): unknown;
}

/** Reads a secret: from a pipe to its end, from a person up to the end of the line, without showing it. */
export async function readSecretInput(
  input: SecretStream,
  ask: (text: string) => void,
): Promise<Result<string, string>> {
  return input.isTTY ? readFromPerson(input, ask) : readToEnd(input);
}

async function readToEnd(input: AsyncIterable<unknown>): Promise<Result<string, string>> {
  let text = '';
  for await (const chunk of input) {
    text += String(chunk);
    if (text.length > lengthMax) return fail('the secret is larger than 64 KiB');
  }
  return succeed(text);
}

async function readFromPerson(
  input: SecretStream,
  ask: (text: string) => void,
): Promise<Result<string, string>> {
  ask('Secret (it is not shown): ');
  input.setRawMode(true);
  let text = '';
  try {
    for await (const chunk of input) {
      for (const key of String(chunk)) {
        if (key === interrupt) return fail('nothing was changed');
        if (key === '\r' || key === '\n' || key === endOfInput) return succeed(text);
        text = backspaces.has(key) ? text.slice(0, -1) : text + key;
        if (text.length > lengthMax) return fail('the secret is larger than 64 KiB');
      }
    }
    return succeed(text);
  } finally {
    input.setRawMode(false);
    ask('\n');
  }
}
