import type { WriterContext } from '../../codec.ts';
import { answerEvents } from '../../translate/answer-events.ts';
import type { TurnAnswer } from '../../turn-event.ts';
import { ResponseMaker } from './response-maker.ts';

const encoder = new TextEncoder();

/** A whole response, as its stream would have added up to. */
export function writeAnswer(answer: TurnAnswer, context: WriterContext): Uint8Array {
  const maker = new ResponseMaker(context, () => {
    // Nobody listens to the events of an answer that is sent as a whole.
  });
  for (const event of answerEvents(answer)) maker.take(event);
  return encoder.encode(JSON.stringify(maker.finish().response));
}
