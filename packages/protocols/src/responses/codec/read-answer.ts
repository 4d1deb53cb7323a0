import type { ReaderContext } from '../../codec.ts';
import { parseJson } from '../../refusal.ts';
import type { TurnAnswer } from '../../turn-event.ts';
import { listOf, recordOf, stringOf } from '../../wire-values.ts';
import { blocksOfItem, finishOf } from './read-output.ts';

const decoder = new TextDecoder();

/** A whole response. */
export function readAnswer(body: Uint8Array, context: ReaderContext): TurnAnswer {
  const response = recordOf(parseJson(decoder.decode(body)));
  const content = listOf(response['output']).flatMap((item, index) => [
    ...blocksOfItem(recordOf(item), index, context).values(),
  ]);
  return {
    answerId: stringOf(response['id']),
    model: stringOf(response['model']),
    content,
    finish: finishOf(response, new Set(content.map(({ kind }) => kind))),
  };
}
