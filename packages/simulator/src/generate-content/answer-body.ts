import type { Choice } from '../answer/answer.ts';
import type { Rendering } from '../protocol.ts';
import { finishWord, identityOf, isBlocked, signatureOf } from './identity.ts';
import { encodePiece, joined, piecesOf } from './pieces.ts';
import { encodeUsage, type Produced, producedInAll } from './usage.ts';

/** The whole answer as one JSON object. */
export function answerBody(rendering: Rendering): string {
  if (isBlocked(rendering)) return JSON.stringify(blockedAnswer(rendering));
  const candidates = rendering.answer.choices.map((choice, index) => ({
    content: { parts: wholeParts(rendering, choice, index), role: 'model' },
    finishReason: finishWord(rendering, choice),
    ...indexMember(index),
  }));
  return JSON.stringify({ candidates, ...closing(rendering, producedInAll(rendering)) });
}

/** What there is in the place of candidates when the prompt itself is refused. */
export function blockedAnswer(rendering: Rendering) {
  const promptFeedback = { blockReason: 'PROHIBITED_CONTENT' };
  return { promptFeedback, ...closing(rendering, producedInAll(rendering)) };
}

/** What follows the candidates: usage so far, unless the command says never, and the answer's identity. */
export function closing(rendering: Rendering, produced: Produced) {
  const isSilent = rendering.command.usage === 'never';
  return {
    ...(isSilent ? {} : { usageMetadata: encodeUsage(rendering, produced) }),
    ...identityOf(rendering),
  };
}

/** The first candidate's number is a default, and those are left out. */
export function indexMember(index: number) {
  return index === 0 ? {} : { index };
}

/** An answer without a word has no parts at all. */
function wholeParts(rendering: Rendering, choice: Choice, index: number): readonly object[] | undefined {
  const parts = joined(piecesOf(choice));
  if (parts.length === 0) return undefined;
  const last = parts.length - 1;
  return parts.map((part, at) => {
    const encoded = encodePiece(rendering, index, part);
    const isSigned = at === last && part.kind === 'text';
    return isSigned ? { ...encoded, thoughtSignature: signatureOf(rendering) } : encoded;
  });
}
