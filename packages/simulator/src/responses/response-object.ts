import { onlyChoice } from '../answer/runs.ts';
import type { JsonRecord } from '../json.ts';
import { listOf, recordOf } from '../json.ts';
import type { Rendering } from '../protocol.ts';
import { responseId } from './identity.ts';
import { wholeItems } from './items.ts';
import { encodeUsage } from './usage.ts';

/** How an answer that was not broken ends. */
interface Ending {
  readonly status: 'completed' | 'incomplete';
  readonly incomplete_details: { readonly reason: string } | null;
}

/** The response while its stream is open. */
export function openResponse(rendering: Rendering) {
  return responseObject(rendering, { status: 'in_progress' });
}

/** The response at its end, with all its items. */
export function closedResponse(rendering: Rendering) {
  const { answer, command, stamp } = rendering;
  return responseObject(rendering, {
    ...endingOf(rendering),
    completed_at: stamp.createdS,
    output: wholeItems(rendering),
    usage: command.usage === 'never' ? null : encodeUsage(answer.usage),
    service_tier: 'default',
  });
}

export function failedResponse(
  rendering: Rendering,
  error: { readonly code: string; readonly message: string },
) {
  return responseObject(rendering, { status: 'failed', error });
}

/** A finish word of the command is the reason why the answer is incomplete: the protocol knows no other words. */
export function endingOf({ answer, command }: Rendering): Ending {
  if (command.finish !== undefined) return incomplete(command.finish);
  return onlyChoice(answer).finish === 'length'
    ? incomplete('max_output_tokens')
    : { status: 'completed', incomplete_details: null };
}

function incomplete(reason: string | null): Ending {
  return { status: 'incomplete', incomplete_details: reason === null ? null : { reason } };
}

/** Every member of the protocol, nulls included; what the request said of them is said back. */
function responseObject(rendering: Rendering, state: object) {
  const { ask, body: request, command, stamp } = rendering;
  return {
    id: responseId(stamp),
    object: 'response',
    created_at: stamp.createdS,
    status: 'in_progress',
    background: request['background'] ?? false,
    completed_at: null,
    error: null,
    frequency_penalty: request['frequency_penalty'] ?? 0,
    incomplete_details: null,
    instructions: request['instructions'] ?? null,
    max_output_tokens: request['max_output_tokens'] ?? null,
    max_tool_calls: request['max_tool_calls'] ?? null,
    model: command.served ?? ask.model,
    output: [],
    parallel_tool_calls: request['parallel_tool_calls'] ?? true,
    presence_penalty: request['presence_penalty'] ?? 0,
    previous_response_id: request['previous_response_id'] ?? null,
    prompt_cache_key: request['prompt_cache_key'] ?? null,
    prompt_cache_retention: request['prompt_cache_retention'] ?? null,
    reasoning: { effort: null, summary: null, ...recordOf(request['reasoning']) },
    safety_identifier: request['safety_identifier'] ?? null,
    service_tier: request['service_tier'] ?? 'auto',
    store: request['store'] ?? true,
    temperature: request['temperature'] ?? 1,
    text: echoText(recordOf(request['text'])),
    tool_choice: request['tool_choice'] ?? 'auto',
    tools: listOf(request['tools']).map((tool) => echoTool(recordOf(tool))),
    top_logprobs: request['top_logprobs'] ?? 0,
    top_p: request['top_p'] ?? 1,
    truncation: request['truncation'] ?? 'disabled',
    usage: null,
    user: request['user'] ?? null,
    metadata: request['metadata'] ?? {},
    ...state,
  };
}

function echoText(text: JsonRecord) {
  const { format, ...rest } = text;
  const plain = { type: 'text' };
  const encoded =
    recordOf(format)['type'] === 'json_schema'
      ? { description: null, strict: true, ...recordOf(format) }
      : (format ?? plain);
  return { format: encoded, verbosity: 'medium', ...rest };
}

function echoTool(tool: JsonRecord) {
  return tool['type'] === 'function'
    ? { description: null, parameters: null, ...tool, strict: tool['strict'] ?? true }
    : tool;
}
