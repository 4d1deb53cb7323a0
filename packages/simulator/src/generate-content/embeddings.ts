import type { JsonRecord } from '../json.ts';
import { countOf, listOf, recordOf } from '../json.ts';
import type { Rendering } from '../protocol.ts';
import { seededRandom } from '../random.ts';
import { partsOf, textOf } from './prompt.ts';
import { member } from './spelling.ts';

const dimensionsDefault = 8;
const dimensionsMax = 3_072;

/** One vector for `embedContent`, a list of them for `batchEmbedContents`. */
export function embeddingsBody({ body, answer, command }: Rendering): string {
  const requests = listOf(body['requests']).map(recordOf);
  const embedded =
    'requests' in body ? { embeddings: requests.map(embeddingOf) } : { embedding: embeddingOf(body) };
  const usage = command.usage === 'never' ? {} : { usageMetadata: { promptTokenCount: answer.usage.prompt } };
  return JSON.stringify({ ...embedded, ...usage });
}

/** The same text has the same vector, and nearly every other text another one. */
function embeddingOf(request: JsonRecord) {
  const text = partsOf(recordOf(request['content'])).map((part) => textOf(part) ?? '');
  const dimensions = countOf(member(request, 'outputDimensionality')) ?? dimensionsDefault;
  const random = seededRandom(seedOf(text.join(' ')));
  const length = Math.min(dimensions, dimensionsMax);
  return { values: Array.from({ length }, () => Math.round(random() * 2e6 - 1e6) / 1e6) };
}

function seedOf(text: string): number {
  return Array.from(text).reduce((seed, letter) => (seed * 31 + (letter.codePointAt(0) ?? 0)) % 2 ** 31, 7);
}
