import type { Rendering } from '../protocol.ts';
import type { Frame } from '../timeline/frame.ts';
import { frame } from '../timeline/frame.ts';
import { blockedAnswer, closing, indexMember } from './answer-body.ts';
import { finishWord, identityOf, isBlocked, signatureOf } from './identity.ts';
import { encodePiece, piecesOf } from './pieces.ts';
import { type Produced, producedInAll } from './usage.ts';

/** Events with CR LF, and no frame behind the last chunk: its finish reason is the end. */
export function* eventFrames(rendering: Rendering): Generator<Frame, void, undefined> {
  for (const { isLast, chunk } of chunksOf(rendering)) {
    yield frame(isLast ? 'terminal' : 'content', `data: ${JSON.stringify(chunk)}\r\n\r\n`);
  }
}

/** The same chunks as the elements of one array, each on lines of its own; the bracket that closes it is the end. */
export function* arrayFrames(rendering: Rendering): Generator<Frame, void, undefined> {
  yield frame('preamble', '[');
  let separator = '';
  for (const { isLast, chunk } of chunksOf(rendering)) {
    yield frame(isLast ? 'finish' : 'content', `${separator}${JSON.stringify(chunk, null, 2)}\n`);
    separator = ',\r\n';
  }
  yield frame('terminal', ']');
}

interface Chunk {
  readonly isLast: boolean;
  readonly chunk: object;
}

/** A chunk for each piece of each choice, one choice after the other, and one in which all of them finish. */
function* chunksOf(rendering: Rendering): Generator<Chunk, void, undefined> {
  if (isBlocked(rendering)) {
    yield { isLast: true, chunk: blockedAnswer(rendering) };
    return;
  }
  let produced = producedUnseen(rendering);
  for (const [choice, { tokens, finish }] of rendering.answer.choices.entries()) {
    for (const piece of piecesOf({ tokens, finish })) {
      produced = withTokens(produced, piece.kind === 'thought' ? 'thoughts' : 'candidates', piece.tokens);
      const content = { parts: [encodePiece(rendering, choice, piece)], role: 'model' };
      const candidates = [{ content, ...indexMember(choice) }];
      yield { isLast: false, chunk: { candidates, ...chunkClosing(rendering, produced) } };
    }
  }
  yield { isLast: true, chunk: lastChunk(rendering) };
}

/** Thinking that is not shown is over before the first chunk. */
function producedUnseen({ answer }: Rendering): Produced {
  const shown = answer.choices.flatMap(({ tokens }) => tokens.filter(({ kind }) => kind === 'reasoning'));
  return { candidates: 0, thoughts: answer.usage.reasoning - shown.length };
}

function withTokens(produced: Produced, part: keyof Produced, tokens: number): Produced {
  return { ...produced, [part]: produced[part] + tokens };
}

function chunkClosing(rendering: Rendering, produced: Produced) {
  return rendering.command.usage === 'finish' ? identityOf(rendering) : closing(rendering, produced);
}

/** An empty text that carries the signature, where there is one that no call has. */
function lastChunk(rendering: Rendering): object {
  const candidates = rendering.answer.choices.map((choice, index) => {
    const hasCall = choice.tokens.some(({ kind }) => kind === 'call');
    const thoughtSignature = hasCall ? undefined : signatureOf(rendering);
    return {
      content: { parts: [{ text: '', thoughtSignature }], role: 'model' },
      finishReason: finishWord(rendering, choice),
      ...indexMember(index),
    };
  });
  return { candidates, ...closing(rendering, producedInAll(rendering)) };
}
