import type { WriterContext } from '../../codec.ts';
import { dataUrl } from '../../translate/data-url.ts';
import { legalName } from '../../translate/tool-names.ts';
import type { MediaBlock } from '../../turn.ts';
import { totalInput, totalOutput, type Usage } from '../../usage.ts';
import type { WireRecord } from '../../wire-values.ts';
import { callIdRule } from '../call-ids.ts';

/** What every answer and every chunk of it begins with. */
export function identityOf(object: string, model: string | null, context: WriterContext) {
  return {
    id: `chatcmpl-${context.traceId}`,
    object,
    created: context.createdS,
    model: model ?? context.turn.model,
  };
}

/** A call as it begins, without what its deltas add. */
export function openCall(
  ownId: string,
  name: string,
  form: 'function' | 'custom',
  input: string,
): WireRecord {
  // It comes back as it is, also where servers are told it that refuse longer ones.
  const id = legalName(ownId, callIdRule);
  return form === 'custom'
    ? { id, type: 'custom', custom: { name, input } }
    : { id, type: 'function', function: { name, arguments: input } };
}

/** Images stand beside the content, as servers of the protocol that make any put them; sound has a member of its own. */
export function writeMedia(
  media: MediaBlock,
  index: number,
  { traceId, createdS }: WriterContext,
): WireRecord {
  const { source, mediaType } = media;
  if (media.media === 'image' && source.kind !== 'text' && source.kind !== 'id') {
    const url = source.kind === 'url' ? source.url : dataUrl(mediaType ?? 'image/png', source.data);
    return { images: [{ type: 'image_url', image_url: { url }, index }] };
  }
  if (media.media !== 'audio' || source.kind !== 'base64') return {};
  // It is not kept anywhere, so it cannot be named later.
  return {
    audio: { id: `audio_${traceId}_${index}`, data: source.data, transcript: '', expires_at: createdS },
  };
}

/** The usage object with every member the protocol has, zeros included. */
export function writeUsage(usage: Usage): WireRecord {
  const prompt = totalInput(usage);
  const completion = totalOutput(usage);
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: {
      cached_tokens: usage.inputCacheRead,
      cache_write_tokens: usage.inputCacheWrite5m + usage.inputCacheWrite1h,
      audio_tokens: usage.inputAudio,
    },
    completion_tokens_details: {
      reasoning_tokens: usage.outputReasoning,
      audio_tokens: usage.outputAudio,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}
