import { completionsError } from '../envelope.ts';
import type { Fault } from '../error.ts';

const encoder = new TextEncoder();

/**
 * An error as the end of a stream, in both places a client looks: an `error` event, which has the error's members twice
 * (in itself, as the published types have it, and under `error`, as servers send it), and then the response as failed.
 * How many events went before is not known here, and no client compares: the numbers only have to be there.
 */
export function encodeStreamError(fault: Fault, traceId: string): Uint8Array {
  const error = completionsError(fault, traceId);
  const { code, message, param } = error;
  const response = failedResponse({ code: publishedCode(fault), message }, traceId);
  return encoder.encode(
    encodeEvent('error', { sequence_number: 0, code, message, param, error }) +
      encodeEvent('response.failed', { sequence_number: 1, response }),
  );
}

/** A response's own error has a closed list of codes. */
function publishedCode({ status }: Fault): string {
  return status === 429 ? 'rate_limit_exceeded' : 'server_error';
}

function encodeEvent(type: string, members: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`;
}

/** A response with the members every response must have, of which nothing is known but the error. */
function failedResponse(
  { code, message }: { readonly code: string; readonly message: string },
  traceId: string,
) {
  return {
    id: `resp_${traceId}`,
    object: 'response',
    created_at: 0,
    status: 'failed',
    background: false,
    completed_at: null,
    error: { code, message },
    incomplete_details: null,
    instructions: null,
    max_output_tokens: null,
    max_tool_calls: null,
    metadata: {},
    model: '',
    output: [],
    parallel_tool_calls: true,
    previous_response_id: null,
    prompt_cache_key: null,
    reasoning: null,
    safety_identifier: null,
    service_tier: 'default',
    store: false,
    temperature: 1,
    text: { format: { type: 'text' } },
    tool_choice: 'auto',
    tools: [],
    top_logprobs: 0,
    top_p: 1,
    presence_penalty: 0,
    frequency_penalty: 0,
    truncation: 'disabled',
    usage: null,
  };
}
