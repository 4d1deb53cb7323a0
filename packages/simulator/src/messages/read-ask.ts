import type { Ask, Message, Tool, ToolChoice } from '../answer/ask.ts';
import { countWords, tokensPerOtherPart, unbroken } from '../answer/ask.ts';
import type { JsonRecord } from '../json.ts';
import { countOf, listOf, recordOf, stringOf } from '../json.ts';
import { type AskResult, badRequest } from '../protocol.ts';

/** Reads a messages body. `messages` and `max_tokens` are required; what the simulator does not use is not checked. */
export function readAsk(model: string, body: JsonRecord): AskResult {
  if (countOf(body['max_tokens']) === null) return required('max_tokens');
  return readPrompt(model, body);
}

/** The same without a limit, for counting. */
export function readPrompt(model: string, body: JsonRecord): AskResult {
  const list = listOf(body['messages']).map(recordOf);
  const last = list.at(-1);
  if (last === undefined) return required('messages');
  const choice = recordOf(body['tool_choice']);
  const ask: Ask = {
    model,
    stream: body['stream'] === true,
    wantsUsage: true,
    promptTokens: list.reduce(
      (sum, message) => sum + contentTokens(message['content']),
      contentTokens(body['system']),
    ),
    lastText: textsOf(last['content']).join(' '),
    answersTool: toolResults(last) > 0,
    toolResults: list.reduce((sum, message) => sum + toolResults(message), 0),
    tools: listOf(body['tools']).flatMap(readTool),
    toolChoice: readToolChoice(choice),
    parallelCalls: choice['disable_parallel_tool_use'] !== true,
    schema: readSchema(recordOf(recordOf(body['output_config'])['format'])),
    maxTokens: countOf(body['max_tokens']),
    choices: 1,
  };
  return { ok: true, ask: unbroken(ask, list.slice(-3).map(messageOf)) };
}

function messageOf({ role, content }: JsonRecord): Message {
  return { isModel: role === 'assistant', text: textsOf(content).join(' '), tokens: contentTokens(content) };
}

function toolResults(message: JsonRecord): number {
  return listOf(message['content']).filter((block) => recordOf(block)['type'] === 'tool_result').length;
}

function required(name: string): AskResult {
  return { ok: false, complaint: badRequest(null, null, `${name}: Field required`) };
}

function contentTokens(content: unknown): number {
  if (typeof content === 'string') return countWords(content);
  return listOf(content).reduce<number>((sum, block) => sum + blockTokens(recordOf(block)), 0);
}

/** Words of the text; nothing for what the model said before beside it; a fixed number for everything else. */
function blockTokens(block: JsonRecord): number {
  switch (block['type']) {
    case 'text':
      return countWords(stringOf(block['text']) ?? '');
    case 'tool_result':
      return contentTokens(block['content']);
    case 'tool_use':
    case 'thinking':
    case 'redacted_thinking':
      return 0;
    default:
      return tokensPerOtherPart;
  }
}

function textsOf(content: unknown): readonly string[] {
  if (typeof content === 'string') return [content];
  return listOf(content).flatMap((value) => {
    const block = recordOf(value);
    return block['type'] === 'tool_result' ? textsOf(block['content']) : (stringOf(block['text']) ?? []);
  });
}

function readTool(value: unknown): readonly Tool[] {
  const tool = recordOf(value);
  const name = stringOf(tool['name']);
  return name === null
    ? []
    : [{ kind: 'function', name, schema: tool['input_schema'] ?? { type: 'object' } }];
}

function readToolChoice(choice: JsonRecord): ToolChoice {
  switch (choice['type']) {
    case 'none':
      return { kind: 'none' };
    case 'any':
      return { kind: 'required' };
    case 'tool':
      return { kind: 'named', name: stringOf(choice['name']) ?? '' };
    default:
      return { kind: 'auto' };
  }
}

function readSchema(format: JsonRecord): unknown {
  return format['type'] === 'json_schema' ? (format['schema'] ?? { type: 'object' }) : null;
}
