import {
  type AnswerTool,
  changed,
  dropped,
  type Loss,
  type TranslationTarget,
  type WrittenTurn,
} from '../codec.ts';
import type { Fault } from '../error.ts';
import type { EncodedRequest } from '../request.ts';
import { fail, type Result, succeed, unreachable } from '../result.ts';
import type { OutputFormat, Surface, Turn, TurnSettingName } from '../turn.ts';
import {
  extensionLosses,
  type SettingSupport,
  settingLosses,
  spellingOf,
  type TraitSupport,
  traitLosses,
  unsupported,
} from './losses.ts';
import { type NameRule, ToolNaming } from './tools.ts';

/**
 * One request while it is written for a target: how tools are named in it, what it loses, each loss once, and the first thing
 * the target cannot say. Writing goes on behind a fault, so that each part of it is a plain function from value to wire.
 */
export class TurnWriting {
  readonly turn: Turn;
  readonly target: TranslationTarget;
  readonly naming: ToolNaming;
  fault: Fault | null = null;
  answerTool: AnswerTool | null = null;
  readonly #losses = new Map<string, Loss>();

  constructor(turn: Turn, target: TranslationTarget, toolNames: NameRule) {
    this.turn = turn;
    this.target = target;
    this.naming = new ToolNaming(turn, toolNames);
  }

  /** The caller's protocol, in whose words losses are told. */
  get surface(): Surface {
    return this.turn.surface;
  }

  /** Notes what the protocol at hand loses of the request's settings, of what only the caller's has, and of what content bears. */
  noteLosses(own: Surface, settings: SettingSupport, traits: TraitSupport, turn: Turn = this.turn): void {
    this.#take(settingLosses(turn, settings));
    this.#take(extensionLosses(turn, own));
    this.lose(traitLosses(turn, own, traits));
  }

  lose(losses: readonly Loss[]): void {
    for (const loss of losses) {
      const key = `${loss.action} ${loss.field}`;
      if (!this.#losses.has(key)) this.#losses.set(key, loss);
    }
  }

  drop(field: string, note: string | null = null): void {
    this.lose([dropped(field, note)]);
  }

  change(field: string, note: string): void {
    this.lose([changed(field, note)]);
  }

  dropSetting(name: TurnSettingName, note: string | null = null): void {
    this.drop(spellingOf(this.turn, name), note);
  }

  changeSetting(name: TurnSettingName, note: string): void {
    this.change(spellingOf(this.turn, name), note);
  }

  /** The limit where it covers thoughts as well: the caller hears of it where they come on top of its own. */
  limitWithThoughts(): number | null {
    const { maxOutputTokens: limit, reasoning } = this.turn.settings;
    const { limitTokens = limit, budgetTokens } = reasoning ?? {};
    if (limitTokens !== limit)
      this.changeSetting('maxOutputTokens', `${limitTokens}, ${budgetTokens} of them for thought`);
    return limitTokens;
  }

  /** The answer would not be what was asked for. */
  refuse(field: string, remedy?: string): void {
    this.fault ??= unsupported(field, remedy);
  }

  /** The request, unless something of it cannot be said. */
  finish(request: EncodedRequest): Result<WrittenTurn, Fault> {
    if (this.fault !== null) return fail(this.fault);
    const { answerTool, turn } = this;
    const choices = turn.settings.choices ?? 1;
    return succeed({
      request,
      losses: [...this.#losses.values()],
      names: this.naming.names,
      answerTool,
      choices,
    });
  }

  #take(losses: Result<readonly Loss[], Fault>): void {
    if (losses.ok) this.lose(losses.value);
    else this.fault ??= losses.error;
  }
}

/** A schema that an answer must satisfy. */
export type SchemaFormat = Extract<OutputFormat, { kind: 'json-schema' }>;

/** The form of an answer in the words that chat and responses share. `about`: where the schema and its name go. */
export function writeOutputFormat(format: OutputFormat, about: (format: SchemaFormat) => object): object {
  switch (format.kind) {
    case 'text':
      return { type: 'text' };
    case 'json':
      return { type: 'json_object' };
    case 'json-schema':
      return { type: 'json_schema', ...about(format) };
    default:
      return unreachable(format);
  }
}

/** An object without its members that are null: those are left to the upstream. */
export function withoutNulls(members: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null));
}
