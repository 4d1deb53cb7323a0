import type { Choice, Token } from '../answer/answer.ts';
import { parseJson } from '../json.ts';
import type { Rendering } from '../protocol.ts';
import { callId, signatureOf } from './identity.ts';

type Called = Extract<Token, { readonly kind: 'call' }>;

/** What one chunk of a stream carries: a word, or a call as a whole. */
export type Piece =
  | { readonly kind: 'thought' | 'text'; readonly text: string; readonly tokens: number }
  | { readonly kind: 'call'; readonly token: Called; readonly input: string; readonly tokens: number };

export function piecesOf({ tokens }: Choice): readonly Piece[] {
  return tokens.flatMap((token) => pieceOf(token, tokens) ?? []);
}

/** Null for arguments, which their call brings with it. */
function pieceOf(token: Token, tokens: readonly Token[]): Piece | null {
  switch (token.kind) {
    case 'reasoning':
      return { kind: 'thought', text: token.text, tokens: 1 };
    case 'text':
    case 'refusal':
      return { kind: 'text', text: token.text, tokens: 1 };
    case 'call':
      return callPiece(tokens, token);
    case 'arguments':
      return null;
  }
}

function callPiece(tokens: readonly Token[], token: Called): Piece {
  const input = tokens.flatMap((other) =>
    other.kind === 'arguments' && other.call === token.call ? [other.text] : [],
  );
  return { kind: 'call', token, input: input.join(''), tokens: 1 + input.length };
}

/** Neighbours of the same kind in one piece: the parts of a whole answer. */
export function joined(pieces: readonly Piece[]): readonly Piece[] {
  const parts: Piece[] = [];
  for (const piece of pieces) {
    const last = parts.at(-1);
    if (last === undefined || last.kind === 'call' || piece.kind !== last.kind) parts.push(piece);
    else parts[parts.length - 1] = { ...last, text: last.text + piece.text };
  }
  return parts;
}

/** The thought behind an answer is signed on the first of its calls. */
export function encodePiece(rendering: Rendering, choice: number, piece: Piece): object {
  switch (piece.kind) {
    case 'thought':
      return { text: piece.text, thought: true };
    case 'text':
      return { text: piece.text };
    case 'call': {
      const { call, tool } = piece.token;
      const functionCall = {
        id: callId(rendering, choice, call),
        name: tool.name,
        args: argsOf(piece.input),
      };
      const thoughtSignature = call === 0 ? signatureOf(rendering) : undefined;
      return { functionCall, thoughtSignature };
    }
  }
}

/** Arguments that the limit has cut off are no JSON any more; the call then has none. */
function argsOf(input: string): unknown {
  return parseJson(input) ?? {};
}
