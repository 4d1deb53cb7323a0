import { z } from 'zod';
import { formatDuration, readDuration } from './duration.ts';

/** The place that a secret is read from; the secret itself is never written down. */
export type SecretSource =
  | { readonly kind: 'environment'; readonly name: string }
  /** An absolute path. */
  | { readonly kind: 'file'; readonly path: string }
  | SecretProgram;

/** A program and its arguments, which prints the secret. */
export interface SecretProgram {
  readonly kind: 'command';
  readonly words: readonly string[];
  /** Null: it is run again only when the secret is refused. */
  readonly refreshMs: number | null;
  /** The variables it is given besides the usual ones; absent for none. */
  readonly variables?: readonly string[];
}

/** A secret that the store keeps, which only the key of the data directory opens. */
export interface SealedSecret {
  readonly kind: 'sealed';
  readonly id: string;
  readonly channelId: string;
  /** Names the key that it is sealed under. */
  readonly keyId: string;
  readonly sealed: string;
}

/** A secret that messages of a webhook are signed with, which the store keeps in the same way. */
export interface SealedSigningSecret extends Omit<SealedSecret, 'kind' | 'channelId'> {
  readonly kind: 'signing';
  readonly webhook: string;
  /** When it signs no more; null of the one that is in force. */
  readonly retiresAtMs: number | null;
}

export const environmentName = z
  .string()
  .regex(/^[A-Za-z0-9_]{1,128}$/, 'must be the name of an environment variable')
  .describe('Name of an environment variable; the secret itself never stands in a file.');

const filePath = z
  .string()
  .regex(/^(\/|[A-Za-z]:[\\/])[^\0]{1,1000}$/, 'must be an absolute path such as /run/secrets/name')
  .describe('Absolute path of a file that holds nothing but the secret; read again when it changes.');

/** Shorter, and a program would be run more often than secrets change. */
const refreshMsMin = 10_000;

const refreshTime = z
  .string()
  .refine(
    (text) => (readDuration(text) ?? 0) >= refreshMsMin,
    'must be a duration of 10s or more, such as 15m',
  )
  .describe('How often the command is run again; only when the secret is refused if left out.');

const program = z
  .array(z.string().min(1).max(1000))
  .min(1)
  .max(100)
  .describe(
    'A program and its arguments, run without a shell; the first 64 KiB that it prints are the secret.',
  );

const programVariables = z
  .array(environmentName)
  .min(1)
  .max(100)
  .describe('Variables that the command is given besides PATH, HOME and the like; it has no others.');

/** A person who wrote the secret itself is told this; the value is not repeated. */
const secretPlaces =
  'must say where the secret is, which never stands in a file: { environment: NAME }, { file: /PATH } or { command: [PROGRAM, …] }';

const places = { environment: environmentName.exactOptional(), file: filePath.exactOptional() };

/** The forms in which a file names a secret's place. */
export const writtenSecret = z
  .strictObject(
    {
      ...places,
      command: program.exactOptional(),
      refresh: refreshTime.exactOptional(),
      variables: programVariables.exactOptional(),
    },
    { error: secretPlaces },
  )
  .refine(
    ({ environment, file, command }) =>
      [environment, file, command].filter((place) => place !== undefined).length === 1,
    secretPlaces,
  )
  .refine(
    ({ command, refresh }) => refresh === undefined || command !== undefined,
    'has refresh without command',
  )
  .refine(
    ({ command, variables }) => variables === undefined || command !== undefined,
    'has variables without command',
  );

const plainSecretPlaces = 'must be { environment: NAME } or { file: /PATH }';

/** The same, without the form that runs something. */
export const writtenPlainSecret = z
  .strictObject(places, { error: plainSecretPlaces })
  .refine(({ environment, file }) => (environment === undefined) !== (file === undefined), plainSecretPlaces);

export type WrittenSecret = z.infer<typeof writtenSecret>;

export function readSecretSource({
  environment,
  file,
  command = [],
  refresh,
  variables,
}: WrittenSecret): SecretSource {
  if (environment !== undefined) return { kind: 'environment', name: environment };
  if (file !== undefined) return { kind: 'file', path: file };
  const refreshMs = refresh === undefined ? null : readDuration(refresh);
  return { kind: 'command', words: command, refreshMs, ...(variables === undefined ? {} : { variables }) };
}

export function writeSecretSource(source: SecretSource): WrittenSecret {
  switch (source.kind) {
    case 'environment':
      return { environment: source.name };
    case 'file':
      return { file: source.path };
    case 'command': {
      const { words, refreshMs, variables } = source;
      return {
        command: [...words],
        ...(refreshMs === null ? {} : { refresh: formatDuration(refreshMs) }),
        ...(variables === undefined ? {} : { variables: [...variables] }),
      };
    }
    default:
      return source satisfies never;
  }
}

/** A place in words: arguments of a command are left out, for some hold more than they should. */
export function describeSource(source: SecretSource | SealedSecret | SealedSigningSecret): string {
  switch (source.kind) {
    case 'environment':
      return source.name;
    case 'file':
      return source.path;
    case 'command':
      return `command ${source.words[0]?.replace(/^.*[\\/]/, '') ?? ''}`;
    case 'sealed':
    case 'signing':
      return source.id;
    default:
      return source satisfies never;
  }
}
