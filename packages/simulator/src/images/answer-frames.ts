import type { Rendering } from '../protocol.ts';
import type { Frame, FrameRole } from '../timeline/frame.ts';
import { frame } from '../timeline/frame.ts';
import { imageAskOf, lookOf, pictureOf } from './picture.ts';
import { encodeUsage } from './usage.ts';

/** The stream: each image's drafts and then the image; the last image ends it. */
export function* answerFrames(rendering: Rendering): Generator<Frame, void, undefined> {
  const { partialImages } = imageAskOf(rendering);
  const { choices } = rendering.ask;
  for (let choice = 0; choice < choices; choice++) {
    for (let draft = 0; draft < partialImages; draft++) {
      const b64_json = pictureOf(rendering, choice, draft + 1);
      yield event(rendering, 'content', 'partial_image', { b64_json, partial_image_index: draft });
    }
    const role = choice === choices - 1 ? 'terminal' : 'content';
    yield event(rendering, role, 'completed', completed(rendering, choice));
  }
}

/** States the whole prompt and the output of its own image only, so that outputs add up to those of a JSON answer. */
function completed(rendering: Rendering, choice: number): object {
  const { ask, answer, command } = rendering;
  const { prompt, completion } = answer.usage;
  const b64_json = completion === 0 ? '' : pictureOf(rendering, choice, 0);
  if (command.usage === 'never') return { b64_json };
  return { b64_json, usage: encodeUsage(imageAskOf(rendering), prompt, completion / ask.choices) };
}

function event(rendering: Rendering, role: FrameRole, name: string, members: object): Frame {
  const image = imageAskOf(rendering);
  const type = `image_${image.operation}.${name}`;
  const data = { type, created_at: rendering.stamp.createdS, ...lookOf(image), ...members };
  return frame(role, `event: ${type}\ndata: ${JSON.stringify(data)}\n\n`);
}
