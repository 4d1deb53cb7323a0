import type { Ask } from '../answer/ask.ts';
import { anyObjectSchema, countWords } from '../answer/ask.ts';
import type { Conversations } from '../conversations.ts';
import type { JsonRecord } from '../json.ts';
import { countOf, recordOf, stringOf } from '../json.ts';
import type { AskResult } from '../protocol.ts';
import { complaintAbout } from './check-request.ts';
import { conversationTokens, inputItems, isCallOutput, textsOf } from './input-items.ts';
import { readToolChoice, readTools } from './tools.ts';

/** Reads a responses body, as strict as the vendor about items and their ids and lenient about unknown members. */
export function readAsk(
  model: string,
  request: JsonRecord,
  _path: string,
  earlier: Conversations,
): AskResult {
  const complaint = complaintAbout(request, earlier);
  if (complaint !== null) return { ok: false, complaint };
  const items = inputItems(request);
  const last = items.at(-1) ?? {};
  const instructions = stringOf(request['instructions']) ?? '';
  const ask: Ask = {
    model,
    stream: request['stream'] === true,
    wantsUsage: true,
    promptTokens: countWords(instructions) + conversationTokens(request, earlier),
    lastText: textsOf(last).join(' '),
    answersTool: isCallOutput(last),
    toolResults: items.filter(isCallOutput).length,
    tools: readTools(request),
    toolChoice: readToolChoice(request['tool_choice']),
    parallelCalls: request['parallel_tool_calls'] !== false,
    schema: readSchema(recordOf(recordOf(request['text'])['format'])),
    maxTokens: countOf(request['max_output_tokens']),
    choices: 1,
  };
  return { ok: true, ask };
}

function readSchema(format: JsonRecord): unknown {
  switch (format['type']) {
    case 'json_schema':
      return format['schema'];
    case 'json_object':
      return anyObjectSchema;
    default:
      return null;
  }
}
