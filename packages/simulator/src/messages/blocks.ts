import type { Answer, Choice, Token } from '../answer/answer.ts';

type Spoken = Extract<Token, { readonly kind: 'text' | 'refusal' | 'reasoning' }>;
type Called = Extract<Token, { readonly kind: 'call' }>;

/** One content block: a run of tokens that belong together. Thinking may be empty, when it is counted and not shown. */
export type Block =
  | { readonly kind: 'thinking' | 'text'; readonly pieces: readonly string[] }
  | { readonly kind: 'tool_use'; readonly token: Called; readonly pieces: readonly string[] };

/** The blocks of the only choice this protocol has, in the order of its tokens. */
export function blocksOf(answer: Answer): readonly Block[] {
  const choice = onlyChoice(answer);
  const thought = spoken(choice, ['reasoning']);
  const said = spoken(choice, ['text', 'refusal']);
  const calls = choice.tokens.filter((token) => token.kind === 'call');
  return [
    ...(answer.usage.reasoning > 0 ? [{ kind: 'thinking' as const, pieces: thought }] : []),
    ...(said.length > 0 ? [{ kind: 'text' as const, pieces: said }] : []),
    ...calls.map((token) => ({ kind: 'tool_use' as const, token, pieces: argumentsOf(choice, token) })),
  ];
}

export function onlyChoice({ choices }: Answer): Choice {
  return choices[0] ?? { tokens: [], finish: 'stop' };
}

function spoken(choice: Choice, kinds: readonly Spoken['kind'][]): readonly string[] {
  return choice.tokens.flatMap((token) =>
    'text' in token && kinds.some((kind) => kind === token.kind) ? [token.text] : [],
  );
}

function argumentsOf(choice: Choice, { call }: Called): readonly string[] {
  return choice.tokens.flatMap((token) =>
    token.kind === 'arguments' && token.call === call ? [token.text] : [],
  );
}
