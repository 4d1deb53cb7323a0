import type { Codec } from '../../codec.ts';
import { NativeEventReader } from './event-reader.ts';
import { NativeEventWriter } from './event-writer.ts';
import { readAnswer } from './read-answer.ts';
import { readTurn } from './read-turn.ts';
import { writeAnswer } from './write-answer.ts';
import { writeTurn } from './write-turn.ts';

/** The generate-content API to and from the canonical form. */
export const generateContentCodec: Codec = {
  readTurn,
  writeTurn,
  // It opens its vendor's own files by URI, and nothing else.
  mediaByUrl: [],
  readAnswer,
  openReader: (context) => new NativeEventReader(context),
  writeAnswer,
  openWriter: (context) => new NativeEventWriter(context),
};
