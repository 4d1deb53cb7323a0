import { noThoughts, type ProbeSheet, plainSchema, pngBase64, probe, shownAnyway } from './probe.ts';

const hi = { role: 'user', content: 'Hello.' };

function says(...blocks: readonly object[]) {
  return { messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello.' }, ...blocks] }] };
}

/** A conversation in which the assistant says these blocks before its answer. */
function thought(...blocks: readonly object[]) {
  return { messages: [hi, { role: 'assistant', content: [...blocks, { type: 'text', text: 'Yes.' }] }, hi] };
}

function tool(rest: object = {}, name = 'weather') {
  return { name, input_schema: plainSchema, ...rest };
}

const tools = { tools: [tool()] };
const use = { type: 'tool_use', id: 'toolu_1', name: 'weather', input: { city: 'canary' } };
const result = { type: 'tool_result', tool_use_id: 'toolu_1', content: 'Sunny.' };

/** A call and its result, which has these members too. */
function called(rest: object = {}, ...more: readonly object[]) {
  return {
    messages: [
      hi,
      { role: 'assistant', content: [use] },
      { role: 'user', content: [{ ...result, ...rest }, ...more] },
    ],
  };
}

const text = { type: 'text', text: 'So.' };
const source = { type: 'base64', media_type: 'image/png', data: pngBase64 };
const document = { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'canary' } };
const ephemeral = { type: 'ephemeral' };
const format = { type: 'json_schema', schema: plainSchema };

/** The members that callers of messages send. */
export const messagesProbes: ProbeSheet = {
  surface: 'messages',
  paths: ['POST /v1/messages'],
  collective: ['messages[].content[].thinking'],
  base: { model: 'model', max_tokens: 4_000, messages: [hi] },
  groups: [
    {
      heading: 'Messages',
      probes: [
        probe('system', { system: 'canary' }, 'text'),
        probe('system', { system: [{ type: 'text', text: 'canary' }] }, 'blocks'),
        probe(
          'system[].cache_control',
          { system: [{ ...text, cache_control: ephemeral }] },
          { beside: { system: [text] } },
        ),
        probe(
          'messages[].role',
          { messages: [hi, { role: 'assistant', content: 'canary' }, hi] },
          { value: 'assistant', beside: { messages: [hi, { role: 'assistant', content: 'Yes.' }, hi] } },
        ),
        probe(
          'messages[].role',
          { messages: [hi, { role: 'assistant', content: 'canary' }] },
          'assistant, last',
        ),
        probe('messages[].role', { messages: [hi, { role: 'system', content: 'canary' }] }, 'system'),
      ],
    },
    {
      heading: 'Blocks of messages',
      beside: says(),
      probes: [
        probe('text', says({ type: 'text', text: 'canary' })),
        probe(
          'text.citations',
          thought({
            ...text,
            citations: [
              {
                type: 'web_search_result_location',
                url: 'https://example.org/canary',
                title: 'T',
                encrypted_index: 'E',
                cited_text: 'q',
              },
            ],
          }),
          {
            beside: thought(text),
          },
        ),
        probe('cache_control', says({ ...text, cache_control: ephemeral }), {
          value: '5m',
          beside: says(text),
        }),
        probe('cache_control', says({ ...text, cache_control: { ...ephemeral, ttl: '1h' } }), {
          value: '1h',
          beside: says(text),
        }),
        probe('image', says({ type: 'image', source }), 'base64'),
        probe(
          'image',
          says({ type: 'image', source: { type: 'url', url: 'https://example.org/canary.png' } }),
          'url',
        ),
        probe('image', says({ type: 'image', source: { type: 'file', file_id: 'file_canary' } }), 'file'),
        probe(
          'image.transformations',
          says({ type: 'image', source, transformations: { oversized_image: 'downsize' } }),
          {
            beside: says({ type: 'image', source }),
          },
        ),
        probe(
          'document',
          says({
            type: 'document',
            source: { type: 'base64', media_type: 'application/pdf', data: 'canary++' },
          }),
          'base64',
        ),
        probe(
          'document',
          says({ type: 'document', source: { type: 'url', url: 'https://example.org/canary.pdf' } }),
          'url',
        ),
        probe('document', says(document), 'text'),
        probe(
          'document',
          says({
            type: 'document',
            source: { type: 'content', content: [{ type: 'text', text: 'canary' }] },
          }),
          'content',
        ),
        probe(
          'document',
          says({ type: 'document', source: { type: 'file', file_id: 'file_canary' } }),
          'file',
        ),
        probe('document.title', says({ ...document, title: 'canary title' }), { beside: says(document) }),
        probe('document.context', says({ ...document, context: 'canary context' }), {
          beside: says(document),
        }),
        probe('document.citations', says({ ...document, citations: { enabled: true } }), {
          beside: says(document),
        }),
        probe(
          'search_result',
          says({
            type: 'search_result',
            source: 'https://example.org',
            title: 'T',
            content: [{ type: 'text', text: 'canary' }],
          }),
        ),
        probe('thinking', thought({ type: 'thinking', thinking: 'canary', signature: 'RVJTY2FuYXJ5' }), {
          beside: thought(),
        }),
        probe('redacted_thinking', thought({ type: 'redacted_thinking', data: 'canary' }), {
          beside: thought(),
        }),
        probe(
          'tool_use',
          {
            messages: [hi, { role: 'assistant', content: [text, use] }, { role: 'user', content: [result] }],
          },
          {
            beside: { ...tools, messages: [hi, { role: 'assistant', content: [text] }, hi] },
          },
        ),
        probe('tool_result', called({ content: 'canary' }), {
          value: 'text',
          beside: { ...tools, ...called({ content: '' }) },
        }),
        probe('tool_result', called({ content: [text, { type: 'image', source }] }), {
          value: 'with an image',
          beside: { ...tools, ...called({ content: [text] }) },
        }),
        probe('tool_result', called({ content: [text, document] }), {
          value: 'with a document',
          beside: { ...tools, ...called({ content: [text] }) },
        }),
        probe(
          'tool_result',
          called({
            content: [
              text,
              { type: 'search_result', source: 's', title: 't', content: [{ type: 'text', text: 'canary' }] },
            ],
          }),
          {
            value: 'with a search_result',
            beside: { ...tools, ...called({ content: [text] }) },
          },
        ),
        probe('tool_result', called({ content: [text, { type: 'tool_reference', tool_name: 'canary' }] }), {
          value: 'with a tool_reference',
          beside: { ...tools, ...called({ content: [text] }) },
        }),
        probe('tool_result.is_error', called({ is_error: true }), { beside: { ...tools, ...called() } }),
        probe('tool_result', called({}, { type: 'text', text: 'canary' }), {
          value: 'with text behind it',
          beside: { ...tools, ...called() },
        }),
        probe(
          'server_tool_use',
          thought(
            { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'canary' } },
            { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] },
          ),
          {
            value: 'with its result',
            beside: thought(),
          },
        ),
        probe(
          'mcp_tool_use',
          thought(
            { type: 'mcp_tool_use', id: 'mcp_1', name: 'f', server_name: 's', input: {} },
            { type: 'mcp_tool_result', tool_use_id: 'mcp_1', content: [{ type: 'text', text: 'canary' }] },
          ),
          {
            value: 'with its result',
            beside: thought(),
          },
        ),
        probe('container_upload', says({ type: 'container_upload', file_id: 'file_canary' })),
        probe('compaction', thought({ type: 'compaction', content: 'canary' }), { beside: thought() }),
      ],
    },
    {
      heading: 'Tools',
      beside: tools,
      probes: [
        probe('tools[]', { tools: [tool(), tool({}, 'canary')] }),
        probe('tools[].description', { tools: [tool({ description: 'canary' })] }),
        probe('tools[].strict', { tools: [tool({ strict: true })] }, 'true'),
        probe('tools[].cache_control', { tools: [tool({ cache_control: ephemeral })] }),
        probe('tools[].defer_loading', { tools: [tool({ defer_loading: true })] }),
        probe('tools[].eager_input_streaming', { tools: [tool({ eager_input_streaming: true })] }),
        probe('tools[].allowed_callers', {
          tools: [tool({ allowed_callers: ['direct', 'code_execution_20260120'] })],
        }),
        probe('tools[].input_examples', { tools: [tool({ input_examples: [{ city: 'canary' }] })] }),
        probe(
          'tools[].type',
          { tools: [tool(), { type: 'web_search_20250305', name: 'web_search' }] },
          "the vendor's own, beside others",
        ),
        probe(
          'tools[].type',
          { tools: [{ type: 'web_search_20250305', name: 'web_search' }] },
          "the vendor's own, alone",
        ),
        probe(
          'tools[].type',
          { tools: [tool(), { type: 'bash_20250124', name: 'bash' }] },
          'bash, text_editor, memory',
        ),
        ...['none', 'auto', 'any'].map((type) => probe('tool_choice', { tool_choice: { type } }, type)),
        probe('tool_choice', { tool_choice: { type: 'tool', name: 'weather' } }, 'tool'),
        probe(
          'tool_choice.disable_parallel_tool_use',
          { tool_choice: { type: 'auto', disable_parallel_tool_use: true } },
          {
            beside: { tool_choice: { type: 'auto' } },
          },
        ),
        probe('mcp_servers', { mcp_servers: [{ type: 'url', url: 'https://example.org', name: 's' }] }),
      ],
    },
    {
      heading: 'The answer',
      probes: [
        probe('max_tokens', { max_tokens: 500 }),
        probe('max_tokens', { max_tokens: 5 }, 'under 16'),
        probe('max_tokens', { max_tokens: 0 }, '0'),
        probe('stop_sequences', { stop_sequences: ['canary'] }),
        probe('output_config.format', { output_config: { format } }),
        probe('output_format', { output_format: format }),
        probe('stream', { stream: true }),
      ],
    },
    {
      heading: 'Sampling and thinking',
      probes: [
        probe('temperature', { temperature: 0.5 }),
        probe('top_p', { top_p: 0.9 }),
        probe('top_k', { top_k: 20 }),
        probe('thinking', { thinking: { type: 'enabled', budget_tokens: 2_000 } }, 'enabled'),
        probe(
          'thinking',
          { thinking: { type: 'adaptive' } },
          { value: 'adaptive', here: 'the model decides, as it does anyway' },
        ),
        probe('thinking', { thinking: { type: 'between_tools' } }, 'between_tools'),
        probe('thinking', { thinking: { type: 'disabled' } }, { value: 'disabled', here: noThoughts }),
        probe(
          'thinking.display',
          { thinking: { type: 'adaptive', display: 'summarized' } },
          { value: 'summarized', here: shownAnyway, beside: { thinking: { type: 'adaptive' } } },
        ),
        probe(
          'thinking.display',
          { thinking: { type: 'adaptive', display: 'omitted' } },
          { value: 'omitted', here: shownAnyway, beside: { thinking: { type: 'adaptive' } } },
        ),
        ...['low', 'high', 'max'].map((effort) =>
          probe('output_config.effort', { output_config: { effort } }, effort),
        ),
        probe('speed', { speed: 'fast' }, 'fast'),
      ],
    },
    {
      heading: 'Everything else',
      probes: [
        probe('metadata.user_id', { metadata: { user_id: 'canary' } }),
        probe(
          'service_tier',
          { service_tier: 'standard_only' },
          { value: 'standard_only', here: 'as it is anyway' },
        ),
        probe('cache_control', { cache_control: ephemeral }),
        probe('container', { container: 'container_canary' }),
        probe('context_management', {
          context_management: { edits: [{ type: 'clear_tool_uses_20250919' }] },
        }),
        probe('compaction', { compaction: { enabled: true } }),
        probe('diagnostics', { diagnostics: { previous_message_id: 'msg_canary' } }),
        probe('fallbacks', { fallbacks: [{ model: 'other' }] }),
        probe('fallback_credit_token', { fallback_credit_token: 'canary' }),
        probe('inference_geo', { inference_geo: 'eu' }),
        probe('thread', { thread: { id: 'canary' } }),
        probe('billing_policy', { billing_policy: 'canary' }),
        probe('what nobody knows', { made_up: 1 }),
        probe(
          'anthropic-beta',
          {},
          {
            headers: { 'anthropic-beta': 'context-1m-2025-08-07' },
            here: 'not sent: betas are of this protocol alone',
          },
        ),
      ],
    },
  ],
};
