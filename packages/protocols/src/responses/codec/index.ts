import type { Codec } from '../../codec.ts';
import { ResponsesEventReader } from './event-reader.ts';
import { ResponsesEventWriter } from './event-writer.ts';
import { readAnswer } from './read-answer.ts';
import { readTurn } from './read-turn.ts';
import { writeAnswer } from './write-answer.ts';
import { writeTurn } from './write-turn.ts';

/** The responses API to and from the canonical form. */
export const responsesCodec: Codec = {
  readTurn,
  writeTurn,
  mediaByUrl: ['image', 'file'],
  readAnswer,
  openReader: (context) => new ResponsesEventReader(context),
  writeAnswer,
  openWriter: (context) => new ResponsesEventWriter(context),
};
