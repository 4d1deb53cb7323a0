import type { Rendering } from '../protocol.ts';
import { imageAskOf, lookOf, pictureOf } from './picture.ts';
import { encodeUsage } from './usage.ts';

/** The whole answer as one JSON object. Zero tokens are no image. */
export function answerBody(rendering: Rendering): string {
  const { ask, answer, command, stamp } = rendering;
  const image = imageAskOf(rendering);
  const { prompt, completion } = answer.usage;
  const count = completion === 0 ? 0 : ask.choices;
  return JSON.stringify({
    created: stamp.createdS,
    ...lookOf(image),
    data: Array.from({ length: count }, (_, choice) => encodeImage(rendering, choice)),
    ...(command.usage === 'never' ? {} : { usage: encodeUsage(image, prompt, completion) }),
  });
}

function encodeImage(rendering: Rendering, choice: number): object {
  const { ask, stamp } = rendering;
  if (imageAskOf(rendering).form === 'b64_json') return { b64_json: pictureOf(rendering, choice, 0) };
  // Nothing listens there: the answer is what is tested, and the image itself is in the other form.
  const url = `https://images.simulator.invalid/sim${stamp.sequence}/${choice}.png`;
  return { url, revised_prompt: ask.lastText };
}
