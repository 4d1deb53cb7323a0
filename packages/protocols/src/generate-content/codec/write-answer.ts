import type { WriterContext } from '../../codec.ts';
import { answerEvents } from '../../translate/answer-events.ts';
import type { TurnAnswer, TurnEvent } from '../../turn-event.ts';
import { type AnswerPart, identityOf, lastChunk, PartWriter } from './event-writer.ts';

const encoder = new TextEncoder();

/** The answer in one object. */
export function writeAnswer(answer: TurnAnswer, context: WriterContext): Uint8Array {
  const writer = new PartWriter(context);
  const parts: AnswerPart[] = [];
  for (const event of answerEvents(answer)) {
    const part = partOf(writer, event);
    if (part !== null) parts.push(part);
  }
  const identity = identityOf(context, answer.answerId, answer.model);
  const whole = lastChunk(joined(parts), answer.finish, writer.citations, { identity, context });
  return encoder.encode(JSON.stringify(whole));
}

function partOf(writer: PartWriter, event: TurnEvent): AnswerPart | null {
  switch (event.kind) {
    case 'block-start':
      return writer.start(event.block);
    case 'delta':
      return writer.take(event.delta);
    case 'block-stop':
      return writer.stop();
    case 'start':
    case 'finish':
      return null;
  }
}

/** A thought and its seal, which a stream has in two parts, in one. */
function joined(parts: readonly AnswerPart[]): readonly AnswerPart[] {
  const whole: AnswerPart[] = [];
  for (const part of parts) {
    const last = whole.at(-1);
    const isSeal = part['thought'] === true && part['text'] === '';
    const isThought = last?.['thought'] === true && last['thoughtSignature'] === undefined;
    if (isSeal && isThought && last !== undefined) whole[whole.length - 1] = { ...part, text: last['text'] };
    else whole.push(part);
  }
  return whole;
}
