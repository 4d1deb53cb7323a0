import type { Need } from '../request.ts';
import type { Surface } from '../turn.ts';

/** Members of a request that are read; a second one of the same name is refused. */
export const requestMembers = [
  'model',
  'instructions',
  'input',
  'stream',
  'background',
  'max_output_tokens',
  'service_tier',
  'tools',
  'tool_choice',
  'text',
  'conversation',
  'previous_response_id',
  'store',
  'prompt_cache_key',
  'safety_identifier',
  'user',
  'metadata',
  'plugins',
  'reasoning',
] as const;

export type RequestMember = (typeof requestMembers)[number];

/** Types of input parts that not every model can read. */
export const partNeeds = {
  input_image: 'image-input',
  computer_screenshot: 'image-input',
  input_audio: 'audio-input',
  input_file: 'file-input',
} as const satisfies Record<string, Need>;

/** Events that say more than their delta. All others repeat what deltas said, or tell how far a hosted tool has come. */
export const eventTypes = [
  'response.created',
  'response.queued',
  'response.in_progress',
  'response.output_item.added',
  'response.output_item.done',
  'response.completed',
  'response.incomplete',
  'response.failed',
  'error',
] as const;

export type EventType = (typeof eventTypes)[number];

/** Members of an event that are read apart from the text in it. */
export const eventMembers = ['type', 'response', 'item', 'error'] as const;

/** Members of a response that are read; everything else is skipped. */
export const responseMembers = [
  'id',
  'model',
  'status',
  'error',
  'incomplete_details',
  'usage',
  'service_tier',
  'output',
] as const;

/** Items that stand for something with a fee, made by the upstream itself. */
export const feeItemTypes = ['web_search_call', 'file_search_call', 'code_interpreter_call'] as const;

/** Members of an item that are read apart from the text in it. */
export const itemMembers = ['type', 'encrypted_content'] as const;

/** Strings the model wrote, wherever they stand; ids, types and what is sealed it did not. */
export const textMembers = [
  'arguments',
  'code',
  'delta',
  'diff',
  'input',
  'name',
  'refusal',
  'text',
  'transcript',
] as const;

/** Members with the results of tools, annotations of a text and facts about its tokens: not the model's words. */
export const foreignMembers = ['results', 'tools', 'output', 'outputs', 'annotations', 'logprobs'] as const;

/** Items that are nothing until text comes. All others say that the model did something. */
export const textItemTypes = ['message', 'reasoning'] as const;

/** Items that wait for the caller. */
export const callItemTypes = [
  'function_call',
  'custom_tool_call',
  'computer_call',
  'local_shell_call',
  'apply_patch_call',
] as const;

/** Every member the published schemas require, nulls included, as they are where a request sets nothing. Nothing is stored. */
export const blankResponse = {
  id: '',
  object: 'response',
  created_at: 0,
  status: 'in_progress',
  background: false,
  completed_at: null,
  error: null,
  frequency_penalty: 0,
  incomplete_details: null,
  instructions: null,
  max_output_tokens: null,
  max_tool_calls: null,
  metadata: {},
  model: '',
  output: [],
  parallel_tool_calls: true,
  presence_penalty: 0,
  previous_response_id: null,
  prompt_cache_key: null,
  reasoning: { effort: null, summary: null },
  safety_identifier: null,
  service_tier: 'default',
  store: false,
  temperature: 1,
  text: { format: { type: 'text' } },
  tool_choice: 'auto',
  tools: [],
  top_logprobs: 0,
  top_p: 1,
  truncation: 'disabled',
  usage: null,
};

export const responsesSurface: Surface = {
  id: 'responses',
  enforcesSchemas: true,
  media: {
    image: 'input[].content[].input_image',
    audio: 'input[].content[].input_audio',
    file: 'input[].content[].input_file',
  },
  sealed: 'input[].encrypted_content',
  arguments: 'input[].arguments',
  toolChoice: 'tool_choice',
  traits: {
    citations: 'input[].content[].annotations',
    'cache-mark': 'input[].content[].prompt_cache_breakpoint',
    'image-detail': 'input[].content[].detail',
    filename: 'input[].content[].filename',
    'media-name': 'input[].content[].filename',
    'call-seal': 'input[].encrypted_content',
  },
};
