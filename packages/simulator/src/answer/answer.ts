import type { Command, ScriptedCall, Step } from '../command/command.ts';
import type { Ask, ImageAsk, Tool } from './ask.ts';
import { imageTokens } from './ask.ts';
import { answerWords, jsonPieces, reasoningWords, refusalWords, wordPieces } from './prose.ts';
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

/** Tokens that the answer is said to have used. `prompt` includes all cache parts, `completion` the reasoning. */
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

/** A call an answer makes, and all that it sends to the tool. */
export interface PlannedCall {
  readonly tool: Tool;
  readonly input: string;
}

/** The calls of this answer, in order; none when it speaks. */
function plannedCalls(ask: Ask, command: Command): readonly PlannedCall[] {
  if (command.refusal) return [];
  if (command.steps === null) return sampleCalls(ask, command);
  const step = nextStep(command.steps, ask);
  return step?.kind === 'call' ? step.calls.flatMap((call) => offeredCall(ask, call)) : [];
}

/** Nothing where the tool is not offered: agents ask for a title or a summary in between, without tools. */
function offeredCall({ tools }: Ask, { tool: name, input }: ScriptedCall): readonly PlannedCall[] {
  const tool = tools.find((offered) => offered.name === name);
  return tool === undefined ? [] : [{ tool, input }];
}

function sampleCalls(ask: Ask, command: Command): readonly PlannedCall[] {
  const offered = offeredTools(ask);
  if (offered.length === 0) return [];
  const wanted = command.calls ?? 1;
  const count = ask.parallelCalls ? wanted : Math.min(wanted, 1);
  return Array.from({ length: count }, (_, index) => offered[index % offered.length])
    .filter((tool) => tool !== undefined)
    .map((tool) => ({ tool, input: sampleInput(tool) }));
}

function sampleInput(tool: Tool): string {
  return tool.kind === 'custom' ? 'simulated input' : JSON.stringify(sampleOf(tool.schema));
}

function offeredTools(ask: Ask): readonly Tool[] {
  const choice = ask.toolChoice;
  switch (choice.kind) {
    case 'none':
      return [];
    case 'auto':
      return ask.answersTool ? [] : ask.tools;
    case 'required':
      return ask.tools;
    case 'named':
      return ask.tools.filter((tool) => tool.name === choice.name);
  }
}

/**
 * The step a conversation has come to: each call is over when its result has come back, and a text is the last.
 * Null once every step is over.
 */
function nextStep(steps: readonly Step[], { toolResults }: Ask): Step | null {
  let resultsLeft = toolResults;
  for (const step of steps) {
    if (step.kind === 'say' || resultsLeft < step.calls.length) return step;
    resultsLeft -= step.calls.length;
  }
  return null;
}

type Spoken = 'reasoning' | 'text' | 'refusal';

/** Tokens of one choice that belong together, as the protocols with blocks or items show them. */
export type Run =
  | { readonly kind: Spoken; readonly pieces: readonly string[] }
  | { readonly kind: 'call'; readonly call: number; readonly tool: Tool; readonly pieces: readonly string[] };

export type CallRun = Extract<Run, { kind: 'call' }>;

/** The runs of the only choice there is, in order. Reasoning that is counted and not shown is an empty run. */
export function runsOf(answer: Answer): readonly Run[] {
  const { tokens } = onlyChoice(answer);
  const reasoning: readonly Run[] =
    answer.usage.reasoning > 0 ? [{ kind: 'reasoning', pieces: piecesOf(tokens, 'reasoning') }] : [];
  return [...reasoning, ...spokenRun(tokens, 'text'), ...spokenRun(tokens, 'refusal'), ...callRuns(tokens)];
}

/** The choice of protocols that have but one. */
export function onlyChoice({ choices }: Answer): Choice {
  return choices[0] ?? { tokens: [], finish: 'stop' };
}

function spokenRun(tokens: readonly Token[], kind: Spoken): readonly Run[] {
  const pieces = piecesOf(tokens, kind);
  return pieces.length === 0 ? [] : [{ kind, pieces }];
}

function callRuns(tokens: readonly Token[]): readonly Run[] {
  return tokens.flatMap((token) =>
    token.kind === 'call'
      ? [{ kind: 'call', call: token.call, tool: token.tool, pieces: argumentsOf(tokens, token.call) }]
      : [],
  );
}

/** The texts of all tokens of a kind. */
export function piecesOf(tokens: readonly Token[], kind: Spoken): readonly string[] {
  return tokens.flatMap((token) => (token.kind === kind ? [token.text] : []));
}

export function argumentsOf(tokens: readonly Token[], call: number): readonly string[] {
  return tokens.flatMap((token) => (token.kind === 'arguments' && token.call === call ? [token.text] : []));
}
