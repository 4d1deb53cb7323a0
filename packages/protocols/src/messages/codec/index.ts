import type { Codec } from '../../codec.ts';
import { MessagesEventReader } from './event-reader.ts';
import { MessagesEventWriter } from './event-writer.ts';
import { readAnswer } from './read-answer.ts';
import { readTurn } from './read-turn.ts';
import { writeAnswer } from './write-answer.ts';
import { writeTurn } from './write-turn.ts';

/** The messages protocol to and from the canonical form. */
export const messagesCodec: Codec = {
  readTurn,
  writeTurn,
  mediaByUrl: ['image', 'file'],
  readAnswer,
  openReader: (context) => new MessagesEventReader(context),
  writeAnswer,
  openWriter: (context) => new MessagesEventWriter(context),
};
