import type { WriterContext } from '../../codec.ts';
import { unreachable } from '../../result.ts';
import type { OutputFormat, Turn } from '../../turn.ts';
import type { Finish } from '../../turn-event.ts';
import { listOf, recordOf } from '../../wire-values.ts';
import { callerNames, writeToolChoice, writeTools } from './write-tools.ts';
import { writeUsage } from './write-usage.ts';

/** How a response stands: open, or ended in one way or another. */
type Standing =
  | { readonly status: 'in_progress' | 'completed' }
  | { readonly status: 'incomplete'; readonly cause: 'max_output_tokens' | 'content_filter' }
  | { readonly status: 'failed'; readonly message: string };

/** The response while it is being made. */
export function openResponse(context: WriterContext, model: string): object {
  return responseObject(context, model, { status: 'in_progress' });
}

/** The response at its end, with all its items. */
export function closedResponse(
  context: WriterContext,
  model: string,
  items: readonly object[],
  finish: Finish,
): { readonly status: string; readonly response: object } {
  const standing = standingOf(finish, items);
  const response = {
    ...responseObject(context, model, standing),
    completed_at: standing.status === 'completed' ? context.createdS : null,
    output: items,
    usage: writeUsage(finish.usage),
  };
  return { status: standing.status, response };
}

/** A refusal in words is in the items as one; a vendor that stopped the answer instead has filtered it. */
function standingOf({ reason }: Finish, items: readonly object[]): Standing {
  switch (reason) {
    case 'stop':
    case 'tool-calls':
    case 'unknown':
      return { status: 'completed' };
    case 'refusal':
      return items.some(refuses)
        ? { status: 'completed' }
        : { status: 'incomplete', cause: 'content_filter' };
    case 'length':
      return { status: 'incomplete', cause: 'max_output_tokens' };
    case 'content-filter':
      return { status: 'incomplete', cause: 'content_filter' };
    case 'error':
      return { status: 'failed', message: 'The model did not give a usable answer.' };
    default:
      return unreachable(reason);
  }
}

function refuses(item: object): boolean {
  const { content } = recordOf(item);
  return listOf(content).some((part) => recordOf(part)['type'] === 'refusal');
}

/** Whether an answer that ended like this was cut off: then its last item was. */
export function isCutOff({ reason }: Finish): boolean {
  return reason === 'length' || reason === 'content-filter';
}

/**
 * Every member the published schemas require, nulls included. What the request set is repeated; its instructions are not,
 * which may be long and are no longer told from other words of the system's. Nothing is stored.
 */
function responseObject({ turn, traceId, createdS }: WriterContext, model: string, standing: Standing) {
  const { settings } = turn;
  return {
    id: `resp_${traceId}`,
    object: 'response',
    created_at: createdS,
    status: standing.status,
    background: false,
    completed_at: null as number | null, // Set once it is known; the literal alone would be of type null.
    error: standing.status === 'failed' ? { code: 'server_error', message: standing.message } : null,
    frequency_penalty: settings.frequencyPenalty ?? 0,
    incomplete_details: standing.status === 'incomplete' ? { reason: standing.cause } : null,
    instructions: null,
    max_output_tokens: settings.maxOutputTokens,
    max_tool_calls: null,
    metadata: settings.metadata ?? {},
    model,
    output: [],
    parallel_tool_calls: settings.parallelToolCalls ?? true,
    presence_penalty: settings.presencePenalty ?? 0,
    previous_response_id: null,
    prompt_cache_key: settings.promptCacheKey,
    reasoning: reasoningOf(turn),
    safety_identifier: settings.user,
    service_tier: 'default',
    store: false,
    temperature: settings.temperature ?? 1,
    text: textOf(turn),
    tool_choice:
      turn.toolChoice === null ? 'auto' : writeToolChoice(turn.toolChoice, turn.tools, callerNames),
    tools: writeTools(turn, callerNames),
    top_logprobs: settings.logprobs ?? 0,
    top_p: settings.topP ?? 1,
    truncation: 'disabled',
    usage: null,
  };
}

function reasoningOf({ settings: { reasoning } }: Turn): object {
  return { effort: reasoning?.effort ?? null, summary: reasoning?.shown === true ? 'auto' : null };
}

function textOf({ settings: { outputFormat, verbosity } }: Turn): object {
  const format = outputFormat === null ? { type: 'text' } : formatOf(outputFormat);
  return verbosity === null ? { format } : { format, verbosity };
}

function formatOf(format: OutputFormat): object {
  switch (format.kind) {
    case 'text':
      return { type: 'text' };
    case 'json':
      return { type: 'json_object' };
    case 'json-schema': {
      const { name, description, schema, strict } = format;
      return { type: 'json_schema', name: name ?? 'response', description, schema, strict: strict ?? false };
    }
    default:
      return unreachable(format);
  }
}
