import type { TranslationTarget } from '../../codec.ts';
import type { Fault } from '../../error.ts';
import type { Loss } from '../../loss.ts';
import { legalName, type NameRule, ToolNaming } from '../../translate/tool-names.ts';
import type { Turn } from '../../turn.ts';
import { callIdRule, nineLetterId } from '../call-ids.ts';

const toolRule: NameRule = { legal: /[a-zA-Z0-9_-]/, legalFirst: /[a-zA-Z0-9_-]/, lengthMax: 64 };

/** One request while it is written: how things are named in it, and what is found that it cannot say. */
export class TurnWriting {
  readonly turn: Turn;
  readonly target: TranslationTarget;
  readonly naming: ToolNaming;
  /** The first thing that may not be lost. */
  fault: Fault | null = null;
  readonly #losses = new Map<string, Loss>();

  constructor(turn: Turn, target: TranslationTarget) {
    this.turn = turn;
    this.target = target;
    this.naming = new ToolNaming(turn, toolRule);
  }

  /** Whether the caller wrote it in this protocol, so that it may stay as it is. */
  get isOwn(): boolean {
    return this.turn.surface === 'chat-completions';
  }

  /** Whether all of the protocol may be used, and not only what compatible servers share. */
  get knowsAll(): boolean {
    return this.isOwn || this.target.dialect.chatVocabulary === 'own';
  }

  get losses(): readonly Loss[] {
    return [...this.#losses.values()];
  }

  /** An id as it is sent, for a call and for its result alike. */
  callId(id: string): string {
    if (this.target.dialect.callIds === 'any') return legalName(id, callIdRule);
    return nineLetterId(id);
  }

  lose(...losses: readonly Loss[]): void {
    for (const loss of losses) this.#losses.set(loss.field, loss);
  }

  refuse(fault: Fault): void {
    this.fault ??= fault;
  }
}

/** The name of a schema, made legal as tools' names are. */
export function schemaName(name: string | null): string {
  return legalName(name ?? 'answer', toolRule);
}

/** Of what is sent for the caller's own user; callers of other protocols put whole objects there. */
export const userCharsMax = 64;

/** The same short word for the same user. */
export function shortUser(user: string): string {
  return legalName(user, { ...toolRule, lengthMax: userCharsMax });
}
