import type { Answer, Choice, Token } from './answer.ts';
import type { Tool } from './ask.ts';

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

function piecesOf(tokens: readonly Token[], kind: Spoken): readonly string[] {
  return tokens.flatMap((token) => (token.kind === kind ? [token.text] : []));
}

function argumentsOf(tokens: readonly Token[], call: number): readonly string[] {
  return tokens.flatMap((token) => (token.kind === 'arguments' && token.call === call ? [token.text] : []));
}
