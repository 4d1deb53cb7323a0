import type { Command } from '../command/command.ts';
import type { Ask, ImageAsk, Tool } from './ask.ts';
import { imageTokens } from './image-tokens.ts';
import { nextStep } from './next-step.ts';
import { jsonPieces, wordPieces } from './pieces.ts';
import type { PlannedCall } from './planned-calls.ts';
import { plannedCalls } from './planned-calls.ts';
import { answerWords, reasoningWords, refusalWords } from './prose.ts';
import { sampleOf } from './sample.ts';

/** One token of an answer: one content frame of its stream. */
export type Token =
  | { readonly kind: 'reasoning' | 'text' | 'refusal'; readonly text: string }
  | { readonly kind: 'call'; readonly call: number; readonly tool: Tool }
  | { readonly kind: 'arguments'; readonly call: number; readonly tool: Tool; readonly text: string };

export type Finish = 'stop' | 'length' | 'tool-calls';

export interface Choice {
  readonly tokens: readonly Token[];
  readonly finish: Finish;
}

/** What the answer is said to have used, in tokens. `prompt` includes all cache parts, `completion` the reasoning. */
export interface SimulatedUsage {
  readonly prompt: number;
  readonly cached: number;
  readonly cacheWrite: number;
  readonly cacheWrite1h: number;
  readonly completion: number;
  readonly reasoning: number;
}

export interface Answer {
  readonly choices: readonly Choice[];
  readonly usage: SimulatedUsage;
}

/** The one answer to this ask under this command. Pure: the same input gives the same tokens and the same usage. */
export function composeAnswer(ask: Ask, command: Command): Answer {
  if (ask.image !== undefined) return composeImages(ask, ask.image, command);
  const choices = Array.from({ length: ask.choices }, (_, index) => composeChoice(ask, command, index));
  const hidden = hiddenReasoning(ask, command) * ask.choices;
  const tokens = choices.flatMap((choice) => choice.tokens);
  const prompt = command.promptTokens ?? ask.promptTokens;
  const cached = Math.min(command.cachedTokens, prompt);
  const cacheWrite = Math.min(command.cacheWriteTokens, prompt - cached);
  return {
    choices,
    usage: {
      prompt,
      cached,
      cacheWrite,
      cacheWrite1h: Math.min(command.cacheWrite1hTokens, prompt - cached - cacheWrite),
      completion: tokens.length + hidden,
      reasoning: tokens.filter((token) => token.kind === 'reasoning').length + hidden,
    },
  };
}

/** Images are no tokens of a text: all that is composed of them is what they cost. */
function composeImages(ask: Ask, image: ImageAsk, command: Command): Answer {
  const prompt = command.promptTokens ?? ask.promptTokens;
  const completion = (command.tokens ?? imageTokens(image)) * ask.choices;
  const nothing = { cached: 0, cacheWrite: 0, cacheWrite1h: 0, reasoning: 0 };
  return { choices: [], usage: { ...nothing, prompt, completion } };
}

/** Every tokens of an answer in the order of its stream: choices take turns, as parallel samples do. */
export function* tokensInTurn(answer: Answer): Generator<{ readonly choice: number; readonly token: Token }> {
  const longest = Math.max(0, ...answer.choices.map((choice) => choice.tokens.length));
  for (let index = 0; index < longest; index++) {
    for (const [choice, { tokens }] of answer.choices.entries()) {
      const token = tokens[index];
      if (token !== undefined) yield { choice, token };
    }
  }
}

function composeChoice(ask: Ask, command: Command, index: number): Choice {
  const called = plannedCalls(ask, command);
  const spoken = called.length > 0 ? called.flatMap(callTokens) : spokenTokens(ask, command, index);
  const reasoning = reasoningWords(command.reasoningTokens).map(tokenOf('reasoning'));
  const tokens = [...reasoning, ...spoken];
  const room = (ask.maxTokens ?? Number.POSITIVE_INFINITY) - hiddenReasoning(ask, command);
  if (tokens.length > room) return { tokens: tokens.slice(0, room), finish: 'length' };
  // A forced call of one tool by name finishes with `stop`, as the protocol's own vendor does it.
  const isOwnChoice = called.length > 0 && ask.toolChoice.kind !== 'named';
  return { tokens, finish: isOwnChoice ? 'tool-calls' : 'stop' };
}

/** Reasoning that is counted but not shown fills the limit first. */
function hiddenReasoning(ask: Ask, command: Command): number {
  return Math.min(command.hiddenReasoningTokens, ask.maxTokens ?? Number.POSITIVE_INFINITY);
}

function spokenTokens(ask: Ask, command: Command, index: number): readonly Token[] {
  if (command.refusal) return refusalWords(command.tokens).map(tokenOf('refusal'));
  const step = command.steps === null ? null : nextStep(command.steps, ask);
  if (step?.kind === 'say') return wordPieces(step.text).map(tokenOf('text'));
  if (ask.schema !== null) return jsonPieces(JSON.stringify(sampleOf(ask.schema))).map(tokenOf('text'));
  return answerWords(ask, index, command.tokens).map(tokenOf('text'));
}

function tokenOf(kind: 'reasoning' | 'text' | 'refusal'): (text: string) => Token {
  return (text) => ({ kind, text });
}

/** One token names the tool, then one per piece of what it is sent. */
function callTokens({ tool, input }: PlannedCall, call: number): readonly Token[] {
  const pieces = jsonPieces(input).map((text): Token => ({ kind: 'arguments', call, tool, text }));
  return [{ kind: 'call', call, tool }, ...pieces];
}
