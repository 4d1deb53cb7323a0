import { fail, type Result } from '@headgate/protocols';
import {
  describeSource,
  type SealedSecret,
  type SealedSigningSecret,
  type SecretSource,
} from '../../catalogue/secret-source.ts';
import type { Environment } from '../../config.ts';
import type { Clock } from '../../ports/clock.ts';
import { openSealed, readSealingKeys, sealingKeysFile } from './sealed-secrets.ts';
import { SecretCommand, Turnstile } from './secret-command.ts';
import { readSecretText } from './secret-text.ts';
import { WatchedText } from './watched-text.ts';

const commandsAtOnce = 4;

export interface SecretBookOptions {
  readonly environment: Environment;
  readonly dataDir: string;
  readonly clock: Clock;
  /** Hears of what an operator should mend although the secret is there. */
  readonly onWarning: (text: string) => void;
}

type StoredSecret = SealedSecret | SealedSigningSecret;

type CommandSource = Extract<SecretSource, { kind: 'command' }>;

/** Keeps the secrets in use, wherever they are kept, and notices when one changes. */
export class SecretBook {
  readonly #options: SecretBookOptions;
  readonly #files = new Map<string, WatchedText>();
  readonly #commands = new Map<string, { readonly source: CommandSource; readonly command: SecretCommand }>();
  readonly #turnstile = new Turnstile(commandsAtOnce);
  readonly #warned = new Set<string>();
  /** The readings of commands at the last look, by command. */
  readonly #printed = new WeakMap<SecretCommand, Result<string, string>>();

  constructor(options: SecretBookOptions) {
    this.#options = options;
  }

  /**
   * Takes up the places that are in use now and drops all others. Files are read before it resolves, and commands have ended when
   * `waitsForCommands`; else they run beside.
   */
  async use(sources: readonly (SecretSource | StoredSecret)[], waitsForCommands: boolean): Promise<void> {
    const paths = sources.flatMap((source) => this.#pathOf(source) ?? []);
    keepOnly(this.#files, new Set(paths));
    for (const path of paths) if (!this.#files.has(path)) this.#files.set(path, new WatchedText(path));
    await Promise.all([...this.#files.values()].map((file) => file.openOnce()));
    for (const file of this.#files.values()) this.#warnOfExposed(file);
    const commands = sources.filter((source) => source.kind === 'command');
    const names = new Set(commands.map(commandName));
    for (const [name, { command }] of this.#commands) if (!names.has(name)) command.close();
    keepOnly(this.#commands, names);
    const runs = commands.map((source) => this.#commandOf(source).runIfDue(() => this.#now()));
    if (waitsForCommands) await Promise.all(runs);
    this.#notePrinted();
  }

  /** A secret as it was last read, or why it is not there. */
  read(source: SecretSource | StoredSecret): Result<string, string> {
    switch (source.kind) {
      case 'environment': {
        const { name } = source;
        const value = this.#options.environment(name);
        return value === undefined
          ? fail(`the variable ${name} is not set`)
          : secretOf(`the variable ${name}`, value);
      }
      case 'file': {
        const text = this.#files.get(source.path)?.reading ?? fail('has not been read');
        const name = `the file ${source.path}`;
        return text.ok ? secretOf(name, text.value) : fail(`${name} ${text.error}`);
      }
      case 'command': {
        const printed = this.#commandOf(source).reading;
        return printed.ok ? printed : fail(`the ${describeSource(source)} ${printed.error}`);
      }
      case 'sealed':
      case 'signing':
        return this.#open(source);
      default:
        return source satisfies never;
    }
  }

  /** Looks for secrets that have changed since they were last read, and runs commands that are due. True when one has. */
  async look(): Promise<boolean> {
    const nowMs = this.#now();
    const changes = await Promise.all([...this.#files.values()].map((file) => file.look(nowMs)));
    for (const { command } of this.#commands.values()) void command.runIfDue(() => this.#now());
    return this.#notePrinted() || changes.includes(true);
  }

  /** An upstream has refused a credential of this id: the command that it came from, if it did, is run again. */
  refused(credentialId: string): void {
    const place = credentialId.replace(/ #\d+$/, '');
    for (const { source, command } of this.#commands.values())
      if (describeSource(source) === place) command.refused(this.#now());
  }

  close(): void {
    for (const { command } of this.#commands.values()) command.close();
  }

  #now(): number {
    return this.#options.clock.monotonic();
  }

  #pathOf(source: SecretSource | StoredSecret): string | null {
    if (source.kind === 'file') return source.path;
    return source.kind === 'sealed' || source.kind === 'signing'
      ? sealingKeysFile(this.#options.dataDir)
      : null;
  }

  #commandOf(source: CommandSource): SecretCommand {
    const name = commandName(source);
    const known = this.#commands.get(name);
    if (known !== undefined) return known.command;
    const command = new SecretCommand(source, this.#options.environment, this.#turnstile);
    this.#commands.set(name, { source, command });
    return command;
  }

  #open(sealed: StoredSecret): Result<string, string> {
    const path = sealingKeysFile(this.#options.dataDir);
    const text = this.#files.get(path)?.reading ?? fail('has not been read');
    const keys = text.ok ? readSealingKeys(text.value) : text;
    const [name, again, rotated] =
      sealed.kind === 'signing'
        ? [
            `the stored signing secret ${sealed.id}`,
            'remove the webhook and make it again',
            `headgate webhooks rotate ${sealed.webhook}`,
          ]
        : [
            `the stored credential ${sealed.id}`,
            'remove the credential and add it again',
            'rotate the credential',
          ];
    if (!keys.ok)
      return fail(`${name} cannot be opened: ${path} ${keys.error}; put that file back, or ${again}`);
    const opened = openSealed(keys.value, sealed);
    return opened.ok
      ? secretOf(name, opened.value)
      : fail(`${name} ${opened.error}; put that file back, or ${rotated}`);
  }

  /** True when a command has printed something else than before. */
  #notePrinted(): boolean {
    let isNew = false;
    for (const [name, { source, command }] of this.#commands) {
      const { reading, failure } = command;
      isNew ||= this.#printed.get(command) !== reading;
      this.#printed.set(command, reading);
      if (failure !== null && reading.ok)
        this.#warnOnce(
          `${name}\n${failure}`,
          `the ${describeSource(source)} ${failure}; what it printed before is still used`,
        );
    }
    return isNew;
  }

  #warnOfExposed({ path, isExposed }: WatchedText): void {
    if (isExposed) this.#warnOnce(path, `others can read ${path}; chmod 600 it, or 440 where it is mounted`);
  }

  #warnOnce(about: string, text: string): void {
    if (this.#warned.has(about)) return;
    this.#warned.add(about);
    this.#options.onWarning(text);
  }
}

function secretOf(name: string, text: string): Result<string, string> {
  const read = readSecretText(text);
  return read.ok ? read : fail(`${name} ${read.error}`);
}

function commandName({ words, refreshMs, variables }: CommandSource): string {
  return JSON.stringify([words, refreshMs, variables]);
}

function keepOnly(map: Map<string, unknown>, names: ReadonlySet<string>): void {
  for (const name of map.keys()) if (!names.has(name)) map.delete(name);
}
