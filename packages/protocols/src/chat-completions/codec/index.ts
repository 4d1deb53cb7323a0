import type { Codec } from '../../codec.ts';
import { ChatEventReader, readAnswer } from './event-reader.ts';
import { ChatEventWriter } from './event-writer.ts';
import { readTurn } from './read-turn.ts';
import { writeAnswer } from './write-answer.ts';
import { writeTurn } from './write-turn.ts';

export const chatCompletionsCodec: Codec = {
  readTurn,
  writeTurn,
  mediaByUrl: ['image'],
  readAnswer,
  openReader: (context) => new ChatEventReader(context),
  writeAnswer,
  openWriter: (context) => new ChatEventWriter(context),
};
