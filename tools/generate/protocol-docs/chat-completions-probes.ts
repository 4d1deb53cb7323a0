import {
  alwaysStrict,
  noThoughts,
  notReplayed,
  type ProbeSheet,
  plainSchema,
  pngBase64,
  probe,
} from './probe.ts';

const pngUrl = `data:image/png;base64,${pngBase64}`;
const hi = { role: 'user', content: 'Hello.' };

/** A user's message of these parts behind some text. */
function says(...parts: readonly object[]) {
  return { messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello.' }, ...parts] }] };
}

/** A conversation in which the assistant's message has these members too. */
function answered(members: object, ...behind: readonly object[]) {
  return { messages: [hi, { role: 'assistant', content: 'Yes.', ...members }, ...behind, hi] };
}

function functionTool(rest: object = {}, name = 'weather') {
  return { type: 'function', function: { name, parameters: plainSchema, ...rest } };
}

const tools = { tools: [functionTool()] };
const twoTools = { tools: [functionTool(), functionTool({}, 'time')] };
const call = {
  id: 'call_1',
  type: 'function',
  function: { name: 'weather', arguments: '{"city":"canary"}' },
};
const result = { role: 'tool', tool_call_id: 'call_1', content: 'Sunny.' };
const named = { type: 'function', function: { name: 'weather' } };

function allowed(mode: string) {
  return { tool_choice: { type: 'allowed_tools', allowed_tools: { mode, tools: [named] } } };
}

function schemaFormat(rest: object) {
  return {
    response_format: { type: 'json_schema', json_schema: { name: 'place', schema: plainSchema, ...rest } },
  };
}

/** The members that callers of chat-completions send. */
export const chatCompletionsProbes: ProbeSheet = {
  surface: 'chat-completions',
  paths: ['POST /v1/chat/completions'],
  collective: ['cache_control'],
  base: { model: 'model', messages: [hi] },
  groups: [
    {
      heading: 'Messages',
      probes: [
        probe('messages[].role', { messages: [{ role: 'system', content: 'canary' }, hi] }, 'system, first'),
        probe(
          'messages[].role',
          { messages: [{ role: 'developer', content: 'canary' }, hi] },
          'developer, first',
        ),
        probe(
          'messages[].role',
          { messages: [hi, { role: 'system', content: 'canary' }] },
          'system, in the middle',
        ),
        probe(
          'messages[].role',
          { messages: [hi, { role: 'assistant', content: 'canary' }, hi] },
          { value: 'assistant', beside: answered({}) },
        ),
        probe(
          'messages[].role',
          { messages: [hi, { role: 'assistant', content: 'canary' }] },
          'assistant, last',
        ),
        probe('messages[].name', { messages: [{ ...hi, name: 'canary' }] }),
        probe('messages[].content', says({ type: 'text', text: 'canary' }), {
          value: 'parts',
          beside: says(),
        }),
        probe('messages[].refusal', answered({ refusal: 'canary' }), { beside: answered({}) }),
        probe('messages[].audio', answered({ audio: { id: 'canary' } }), { beside: answered({}) }),
        probe(
          'messages[].annotations',
          answered({
            annotations: [
              {
                type: 'url_citation',
                url_citation: { url: 'https://example.org/canary', title: 'T', start_index: 0, end_index: 2 },
              },
            ],
          }),
          { beside: answered({}) },
        ),
        probe('messages[].reasoning_content', answered({ reasoning_content: 'canary' }), {
          beside: answered({}),
          here: notReplayed,
        }),
        probe('messages[].reasoning', answered({ reasoning: 'canary' }), {
          beside: answered({}),
          here: notReplayed,
        }),
        probe(
          'messages[].reasoning_details',
          answered({ reasoning_details: [{ type: 'reasoning.encrypted', data: 'canary' }] }),
          { beside: answered({}) },
        ),
        probe('messages[].tool_calls', answered({ tool_calls: [call] }, result), {
          value: 'function',
          beside: { ...tools, ...answered({}) },
        }),
        probe(
          'messages[].tool_calls',
          answered(
            { tool_calls: [{ id: 'call_1', type: 'custom', custom: { name: 'shell', input: 'canary' } }] },
            result,
          ),
          { value: 'custom', beside: { ...tools, ...answered({}) } },
        ),
        probe(
          'messages[].tool_calls',
          answered(
            { tool_calls: [{ ...call, function: { name: 'weather', arguments: '{"city": canary' } }] },
            result,
          ),
          { value: 'arguments that are no JSON', beside: { ...tools, ...answered({}) } },
        ),
        probe(
          'messages[].tool_calls[].extra_content',
          answered(
            { tool_calls: [{ ...call, extra_content: { google: { thought_signature: 'canary' } } }] },
            result,
          ),
          { beside: { ...tools, ...answered({ tool_calls: [call] }, result) } },
        ),
        probe(
          'messages[].role',
          answered({ tool_calls: [call] }, { ...result, content: [{ type: 'text', text: 'canary' }] }),
          {
            value: 'tool',
            beside: { ...tools, ...answered({ tool_calls: [call] }, { ...result, content: '' }) },
          },
        ),
        probe(
          'messages[].function_call',
          answered(
            { function_call: { name: 'weather', arguments: '{"city":"canary"}' } },
            {
              role: 'function',
              name: 'weather',
              content: 'Sunny.',
            },
          ),
          { value: 'with its `function` message', beside: { ...tools, ...answered({}) } },
        ),
      ],
    },
    {
      heading: 'Parts of messages',
      beside: says(),
      probes: [
        probe('image_url', says({ type: 'image_url', image_url: { url: pngUrl } }), 'data URL'),
        probe(
          'image_url',
          says({ type: 'image_url', image_url: { url: 'https://example.org/canary.png' } }),
          'URL',
        ),
        ...['low', 'high', 'original'].map((detail) =>
          probe('image_url.detail', says({ type: 'image_url', image_url: { url: pngUrl, detail } }), {
            value: detail,
            beside: says({ type: 'image_url', image_url: { url: pngUrl } }),
          }),
        ),
        probe('input_audio', says({ type: 'input_audio', input_audio: { data: 'canary++', format: 'wav' } })),
        probe(
          'file.file_data',
          says({
            type: 'file',
            file: { file_data: 'data:application/pdf;base64,canary++' },
          }),
        ),
        probe(
          'file.filename',
          says({
            type: 'file',
            file: { filename: 'canary.pdf', file_data: 'data:application/pdf;base64,JVBE' },
          }),
          { beside: says({ type: 'file', file: { file_data: 'data:application/pdf;base64,JVBE' } }) },
        ),
        probe('file.file_id', says({ type: 'file', file: { file_id: 'file-canary' } })),
        probe(
          'refusal',
          answered({
            content: [
              { type: 'text', text: 'Yes.' },
              { type: 'refusal', refusal: 'canary' },
            ],
          }),
          {
            beside: answered({ content: [{ type: 'text', text: 'Yes.' }] }),
          },
        ),
        probe('cache_control', says({ type: 'text', text: 'So.', cache_control: { type: 'ephemeral' } }), {
          beside: says({ type: 'text', text: 'So.' }),
        }),
        probe(
          'prompt_cache_breakpoint',
          says({ type: 'text', text: 'So.', prompt_cache_breakpoint: { mode: 'explicit' } }),
          { beside: says({ type: 'text', text: 'So.' }) },
        ),
      ],
    },
    {
      heading: 'Tools',
      beside: tools,
      probes: [
        probe('tools[].function', { tools: [functionTool(), functionTool({}, 'canary')] }),
        probe('tools[].function.description', { tools: [functionTool({ description: 'canary' })] }),
        probe('tools[].function.strict', { tools: [functionTool({ strict: true })] }, 'true'),
        probe(
          'tools[].function.name',
          { tools: [functionTool({}, 'canary.of-the:mine')] },
          'of other characters',
        ),
        probe('tools[].custom', { tools: [functionTool(), { type: 'custom', custom: { name: 'canary' } }] }),
        probe(
          'tools[].custom.format',
          {
            tools: [
              {
                type: 'custom',
                custom: {
                  name: 'shell',
                  format: { type: 'grammar', grammar: { syntax: 'lark', definition: 'canary' } },
                },
              },
            ],
          },
          { beside: { tools: [{ type: 'custom', custom: { name: 'shell' } }] } },
        ),
        probe(
          'tools[].type',
          { tools: [functionTool(), { type: 'web_search' }] },
          'any other, beside functions',
        ),
        probe('tools[].type', { tools: [{ type: 'web_search' }] }, 'any other, alone'),
        probe(
          'functions',
          { functions: [{ name: 'canary', parameters: plainSchema }] },
          { beside: { tools: undefined } },
        ),
        probe(
          'function_call',
          { function_call: { name: 'weather' } },
          { beside: { tools: undefined, functions: [{ name: 'weather', parameters: plainSchema }] } },
        ),
        ...['none', 'auto', 'required'].map((tool_choice) =>
          probe('tool_choice', { tool_choice }, tool_choice),
        ),
        probe('tool_choice', { tool_choice: named }, 'function'),
        probe(
          'tool_choice',
          { tool_choice: { type: 'custom', custom: { name: 'shell' } } },
          { value: 'custom', beside: { tools: [{ type: 'custom', custom: { name: 'shell' } }] } },
        ),
        probe('tool_choice', allowed('auto'), { value: 'allowed_tools, auto', beside: twoTools }),
        probe('tool_choice', allowed('required'), { value: 'allowed_tools, required', beside: twoTools }),
        probe('parallel_tool_calls', { parallel_tool_calls: false }, 'false'),
        probe(
          'web_search_options',
          { web_search_options: { search_context_size: 'low' } },
          'beside functions',
        ),
        probe(
          'web_search_options',
          { web_search_options: { search_context_size: 'low' } },
          { value: 'alone', beside: { tools: undefined } },
        ),
      ],
    },
    {
      heading: 'The answer',
      probes: [
        probe('max_completion_tokens', { max_completion_tokens: 500 }),
        probe('max_completion_tokens', { max_completion_tokens: 5 }, 'under 16'),
        probe('max_tokens', { max_tokens: 500 }),
        probe('n', { n: 2 }, 'up to 8'),
        probe('n', { n: 9 }, 'over 8'),
        probe('stop', { stop: 'canary' }, 'one'),
        probe('stop', { stop: ['canary', 'b', 'c', 'd'] }, 'four'),
        probe('response_format', { response_format: { type: 'json_object' } }, 'json_object'),
        probe('response_format', schemaFormat({}), 'json_schema'),
        probe('response_format', schemaFormat({ strict: true }), {
          value: 'json_schema, strict',
          beside: schemaFormat({}),
          here: alwaysStrict,
        }),
        probe(
          'modalities',
          { modalities: ['text', 'audio'], audio: { format: 'mp3', voice: 'alloy' } },
          'with audio',
        ),
        probe('audio', { audio: { format: 'mp3', voice: 'alloy' } }),
        probe('prediction', { prediction: { type: 'content', content: 'canary' } }),
        probe('logprobs', { logprobs: true }, 'true'),
        probe('top_logprobs', { logprobs: true, top_logprobs: 3 }),
        probe('verbosity', { verbosity: 'low' }),
        probe('stream', { stream: true }),
        probe(
          'stream_options.include_usage',
          { stream_options: { include_usage: true } },
          {
            beside: { stream: true },
            here: 'usage is in the stream when asked for',
          },
        ),
        probe(
          'stream_options.include_obfuscation',
          { stream_options: { include_obfuscation: true } },
          { beside: { stream: true }, here: 'nothing is padded' },
        ),
      ],
    },
    {
      heading: 'Sampling and thinking',
      probes: [
        probe('temperature', { temperature: 0.5 }, 'to 1'),
        probe('temperature', { temperature: 1.5 }, 'over 1'),
        probe('top_p', { top_p: 0.9 }),
        probe('presence_penalty', { presence_penalty: 0.5 }),
        probe('frequency_penalty', { frequency_penalty: 0.5 }),
        probe('logit_bias', { logit_bias: { '50256': -100 } }),
        probe('seed', { seed: 7 }),
        ...['none', 'minimal', 'low', 'high', 'xhigh'].map((reasoning_effort) =>
          probe(
            'reasoning_effort',
            { reasoning_effort },
            {
              value: reasoning_effort,
              here: reasoning_effort === 'none' ? noThoughts : null,
            },
          ),
        ),
        probe('reasoning', { reasoning: { effort: 'high' } }),
        probe('thinking', { thinking: { type: 'enabled', budget_tokens: 2_000 } }),
        probe('enable_thinking', { enable_thinking: true }, { here: 'the model decides, as it does anyway' }),
        probe('top_k', { top_k: 20 }),
        probe('min_p', { min_p: 0.05 }),
        probe('repetition_penalty', { repetition_penalty: 1.1 }),
      ],
    },
    {
      heading: 'Everything else',
      probes: [
        probe('user', { user: 'canary' }),
        probe('safety_identifier', { safety_identifier: 'canary' }),
        probe('metadata', { metadata: { team: 'canary' } }),
        ...['flex', 'priority', 'scale'].map((service_tier) =>
          probe('service_tier', { service_tier }, service_tier),
        ),
        probe('store', { store: true }, 'true'),
        probe('prompt_cache_key', { prompt_cache_key: 'canary' }),
        probe('prompt_cache_retention', { prompt_cache_retention: '24h' }),
        probe('prompt_cache_options', { prompt_cache_options: { mode: 'explicit' } }),
        probe('moderation', { moderation: { model: 'omni' } }),
        probe('what nobody knows', { chat_template_kwargs: { a: 1 } }),
      ],
    },
  ],
};
