import {
  alwaysStrict,
  noThoughts,
  notReplayed,
  type ProbeSheet,
  plainSchema,
  pngBase64,
  probe,
  shownAnyway,
} from './probe.ts';
import { hostedItems, hostedTools, ownCalls, typeOf } from './responses-vendor-items.ts';

const hi = { role: 'user', content: 'Hello.' };

function says(...parts: readonly object[]) {
  return { input: [{ role: 'user', content: [{ type: 'input_text', text: 'Hello.' }, ...parts] }] };
}

const yes = {
  type: 'message',
  role: 'assistant',
  id: 'msg_1',
  status: 'completed',
  content: [{ type: 'output_text', text: 'Yes.', annotations: [] }],
};

/** A conversation in which these items stand before the assistant's message. */
function before(...items: readonly object[]) {
  return { input: [hi, ...items, yes, hi] };
}

function functionTool(rest: object = {}, name = 'weather') {
  return { type: 'function', name, parameters: plainSchema, strict: false, ...rest };
}

const tools = { tools: [functionTool()] };
const custom = { type: 'custom', name: 'shell' };
const call = { type: 'function_call', call_id: 'call_1', name: 'weather', arguments: '{"city":"canary"}' };
const output = { type: 'function_call_output', call_id: 'call_1', output: 'Sunny.' };

function called(rest: object = {}, outputRest: object = {}) {
  return { input: [hi, { ...call, ...rest }, { ...output, ...outputRest }] };
}

const image = { type: 'input_image', image_url: `data:image/png;base64,${pngBase64}` };
const imageAt = { type: 'input_image', image_url: 'https://example.org/canary.png' };
const schemaFormat = { type: 'json_schema', name: 'place', schema: plainSchema };

/** The members that callers of responses send. */
export const responsesProbes: ProbeSheet = {
  surface: 'responses',
  paths: ['POST /v1/responses'],
  collective: ['input[].content[].input_image', 'input[].content[].input_file'],
  base: { model: 'model', input: [hi] },
  groups: [
    {
      heading: 'Input',
      probes: [
        probe('input', { input: 'canary' }, 'text'),
        probe('instructions', { instructions: 'canary' }),
        probe(
          'input[].role',
          { input: [{ role: 'developer', content: 'canary' }, hi] },
          'developer or system, first',
        ),
        probe(
          'input[].role',
          { input: [hi, { role: 'developer', content: 'canary' }] },
          'developer or system, in the middle',
        ),
        probe(
          'input[].role',
          { input: [hi, { ...yes, content: [{ type: 'output_text', text: 'canary' }] }, hi] },
          { value: 'assistant', beside: before() },
        ),
        probe(
          'input[].role',
          { input: [hi, { ...yes, content: [{ type: 'output_text', text: 'canary' }] }] },
          'assistant, last',
        ),
        probe('input[].phase', { input: [hi, { ...yes, phase: 'commentary' }, hi] }, { beside: before() }),
        probe('function_call', called(), { value: 'with its output', beside: { ...tools, input: [hi] } }),
        probe('function_call', called({ arguments: '{"city": canary' }), {
          value: 'arguments that are no JSON',
          beside: { ...tools, input: [hi] },
        }),
        probe('function_call.namespace', called({ namespace: 'canary' }), {
          beside: { ...tools, ...called() },
        }),
        probe('function_call_output', called({}, { output: 'canary' }), {
          value: 'text',
          beside: { ...tools, ...called({}, { output: '' }) },
        }),
        probe(
          'function_call_output',
          called({}, { output: [{ type: 'input_text', text: 'Look.' }, image] }),
          {
            value: 'with an image',
            beside: { ...tools, ...called({}, { output: [{ type: 'input_text', text: 'Look.' }] }) },
          },
        ),
        probe('function_call_output.status', called({}, { status: 'incomplete' }), {
          value: 'incomplete',
          beside: { ...tools, ...called() },
        }),
        probe(
          'custom_tool_call',
          {
            input: [
              hi,
              { type: 'custom_tool_call', call_id: 'c', name: 'shell', input: 'canary' },
              { type: 'custom_tool_call_output', call_id: 'c', output: 'ok' },
            ],
          },
          {
            value: 'with its output',
            beside: { tools: [custom] },
          },
        ),
        probe(
          'reasoning',
          before({ type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'canary' }] }),
          { value: 'summary alone', beside: before(), here: notReplayed },
        ),
        probe(
          'reasoning',
          before({ type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAAcanary' }),
          { value: 'encrypted_content', beside: before() },
        ),
        probe(
          'image_generation_call',
          before({ type: 'image_generation_call', id: 'ig_1', status: 'completed', result: pngBase64 }),
          { beside: before() },
        ),
        probe('item_reference', before({ type: 'item_reference', id: 'msg_canary' }), { beside: before() }),
        probe('additional_tools', {
          input: [{ type: 'additional_tools', role: 'developer', tools: [functionTool({}, 'canary')] }, hi],
        }),
        probe('configuration_update', before({ type: 'configuration_update', canary: 1 }), {
          beside: before(),
        }),
        ...hostedItems.map((item) => probe(typeOf(item), before(item), { beside: before() })),
        ...ownCalls.map((pair) =>
          probe(typeOf(pair[0]), before(...pair), { value: 'with its output', beside: before() }),
        ),
      ],
    },
    {
      heading: 'Parts of messages',
      beside: says(),
      probes: [
        probe('input_text', says({ type: 'input_text', text: 'canary' })),
        probe('input_image', says(image), 'data URL'),
        probe('input_image', says(imageAt), 'URL'),
        probe('input_image', says({ type: 'input_image', file_id: 'file-canary' }), 'file_id'),
        ...['low', 'high', 'original'].map((detail) =>
          probe('input_image.detail', says({ ...image, detail }), { value: detail, beside: says(image) }),
        ),
        probe(
          'input_file',
          says({ type: 'input_file', file_data: 'data:application/pdf;base64,canary++' }),
          'file_data',
        ),
        probe(
          'input_file',
          says({ type: 'input_file', file_url: 'https://example.org/canary.pdf' }),
          'file_url',
        ),
        probe('input_file', says({ type: 'input_file', file_id: 'file-canary' }), 'file_id'),
        probe(
          'input_file.filename',
          says({ type: 'input_file', filename: 'canary.pdf', file_data: 'data:application/pdf;base64,JVBE' }),
          {
            beside: says({ type: 'input_file', file_data: 'data:application/pdf;base64,JVBE' }),
          },
        ),
        probe(
          'input_file.detail',
          says({ type: 'input_file', detail: 'low', file_data: 'data:application/pdf;base64,JVBE' }),
          { beside: says({ type: 'input_file', file_data: 'data:application/pdf;base64,JVBE' }) },
        ),
        probe('input_audio', says({ type: 'input_audio', input_audio: { data: 'canary++', format: 'wav' } })),
        probe(
          'refusal',
          { input: [hi, { ...yes, content: [...yes.content, { type: 'refusal', refusal: 'canary' }] }, hi] },
          { beside: before() },
        ),
        probe(
          'output_text.annotations',
          {
            input: [
              hi,
              {
                ...yes,
                content: [
                  {
                    type: 'output_text',
                    text: 'Yes.',
                    annotations: [
                      {
                        type: 'url_citation',
                        url: 'https://example.org/canary',
                        title: 'T',
                        start_index: 0,
                        end_index: 3,
                      },
                    ],
                  },
                ],
              },
              hi,
            ],
          },
          { beside: before() },
        ),
        probe(
          'prompt_cache_breakpoint',
          says({ type: 'input_text', text: 'So.', prompt_cache_breakpoint: { mode: 'explicit' } }),
          { beside: says({ type: 'input_text', text: 'So.' }) },
        ),
      ],
    },
    {
      heading: 'Tools',
      beside: tools,
      probes: [
        probe('tools[].function', { tools: [functionTool(), functionTool({}, 'canary')] }),
        probe('tools[].description', { tools: [functionTool({ description: 'canary' })] }),

        probe('tools[].strict', { tools: [functionTool({ strict: true })] }, 'true'),
        probe('tools[].name', { tools: [functionTool({}, 'canary.of-the:mine')] }, 'of other characters'),
        probe('tools[].defer_loading', { tools: [functionTool({ defer_loading: true })] }),
        probe('tools[].async', { tools: [functionTool({ async: true })] }),
        probe('tools[].allowed_callers', { tools: [functionTool({ allowed_callers: ['programmatic'] })] }),
        probe('tools[].output_schema', { tools: [functionTool({ output_schema: plainSchema })] }),
        probe('tools[].custom', { tools: [functionTool(), { type: 'custom', name: 'canary' }] }),
        probe(
          'tools[].custom.format',
          { tools: [{ ...custom, format: { type: 'grammar', syntax: 'lark', definition: 'canary' } }] },
          {
            beside: { tools: [custom] },
          },
        ),
        probe('tools[].namespace', {
          tools: [
            functionTool(),
            { type: 'namespace', name: 'canary', description: 'd', tools: [functionTool({}, 'f')] },
          ],
        }),
        ...hostedTools.map((hosted) =>
          probe(`tools[].${typeOf(hosted)}`, { tools: [functionTool(), hosted] }, 'beside functions'),
        ),
        probe('tools[].web_search', { tools: [{ type: 'web_search' }] }, 'alone'),
        ...['none', 'auto', 'required'].map((tool_choice) =>
          probe('tool_choice', { tool_choice }, tool_choice),
        ),
        probe('tool_choice', { tool_choice: { type: 'function', name: 'weather' } }, 'function'),
        probe(
          'tool_choice',
          { tool_choice: { type: 'custom', name: 'shell' } },
          { value: 'custom', beside: { tools: [custom] } },
        ),
        ...['auto', 'required'].map((mode) =>
          probe(
            'tool_choice',
            { tool_choice: { type: 'allowed_tools', mode, tools: [{ type: 'function', name: 'weather' }] } },
            {
              value: `allowed_tools, ${mode}`,
              beside: { tools: [functionTool(), functionTool({}, 'time')] },
            },
          ),
        ),
        probe(
          'tool_choice',
          { tool_choice: { type: 'web_search' } },
          { value: "the vendor's own", beside: { tools: [functionTool(), { type: 'web_search' }] } },
        ),
        probe('parallel_tool_calls', { parallel_tool_calls: false }, 'false'),
        probe('max_tool_calls', { max_tool_calls: 3 }),
      ],
    },
    {
      heading: 'The answer',
      probes: [
        probe('max_output_tokens', { max_output_tokens: 500 }),
        probe('text.format', { text: { format: { type: 'json_object' } } }, 'json_object'),
        probe('text.format', { text: { format: schemaFormat } }, 'json_schema'),
        probe(
          'text.format',
          { text: { format: { ...schemaFormat, strict: true } } },
          {
            value: 'json_schema, strict',
            here: alwaysStrict,
            beside: { text: { format: { ...schemaFormat, strict: false } } },
          },
        ),
        probe('text.verbosity', { text: { verbosity: 'low' } }),
        probe('top_logprobs', { top_logprobs: 3 }),
        probe('include', { include: ['message.output_text.logprobs'] }, 'message.output_text.logprobs'),
        probe(
          'include',
          { include: ['reasoning.encrypted_content'] },
          { value: 'reasoning.encrypted_content', here: 'sealed reasoning is always handed over' },
        ),
        probe('include', { include: ['web_search_call.action.sources'] }, 'any other'),
        probe('truncation', { truncation: 'auto' }, 'auto'),
        probe('background', { background: true }, 'true'),
        probe('stream', { stream: true }),
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
        ...['none', 'low', 'high', 'max'].map((effort) =>
          probe(
            'reasoning.effort',
            { reasoning: { effort } },
            {
              value: effort,
              here: effort === 'none' ? noThoughts : null,
            },
          ),
        ),
        probe(
          'reasoning.summary',
          { reasoning: { effort: 'low', summary: 'auto' } },
          { here: shownAnyway, beside: { reasoning: { effort: 'low' } } },
        ),
        probe(
          'reasoning.context',
          { reasoning: { effort: 'low', context: 'all_turns' } },
          { beside: { reasoning: { effort: 'low' } } },
        ),
        probe(
          'reasoning.mode',
          { reasoning: { effort: 'low', mode: 'pro' } },
          { beside: { reasoning: { effort: 'low' } } },
        ),
      ],
    },
    {
      heading: 'Everything else',
      probes: [
        probe('previous_response_id', { previous_response_id: 'resp_canary' }),
        probe('conversation', { conversation: 'conv_canary' }),
        probe('prompt', { prompt: { id: 'pmpt_canary' } }),
        probe('store', { store: true }, 'true'),
        probe('context_management', {
          context_management: [{ type: 'compaction', compact_threshold: 1_000 }],
        }),
        probe('user', { user: 'canary' }),
        probe('safety_identifier', { safety_identifier: 'canary' }),
        probe('metadata', { metadata: { team: 'canary' } }),
        ...['flex', 'priority', 'ultrafast'].map((service_tier) =>
          probe('service_tier', { service_tier }, service_tier),
        ),
        probe('prompt_cache_key', { prompt_cache_key: 'canary' }),
        probe('prompt_cache_retention', { prompt_cache_retention: '24h' }),
        probe('prompt_cache_options', { prompt_cache_options: { mode: 'explicit' } }),
        probe('moderation', { moderation: { model: 'omni' } }),
        probe('access_programs', { access_programs: { cyber: 'canary' } }),
        probe('image', { image: { context_compression: 'auto' } }),
        probe('client_metadata', { client_metadata: { a: 'canary' } }),
        probe('what nobody knows', { made_up: 1 }),
      ],
    },
  ],
};
