/** Streams in the dialects of the servers that speak the protocol; our own words in their shapes. */

export interface StreamFixture {
  readonly name: string;
  readonly frames: readonly string[];
  /** One letter a frame: liveness, preamble, content, finish, usage, terminal, error, garbled. */
  readonly roles: string;
  readonly usage: { readonly input: number; readonly output: number } | null;
  readonly finish: string | null;
  readonly outputBytes: number;
  readonly reasoningOutsideCompletion?: boolean;
}

const head = '"id":"c-1","object":"chat.completion.chunk","created":1,"model":"m-1"';

/** A data frame with one choice. */
function choice(delta: string, finish = 'null', more = ''): string {
  return `data: {${head},"choices":[{"index":0,"delta":${delta},"finish_reason":${finish}}]${more}}\n\n`;
}

function usage(prompt: number, completion: number, more = ''): string {
  return `"usage":{"prompt_tokens":${prompt},"completion_tokens":${completion},"total_tokens":${prompt + completion}${more}}`;
}

const done = 'data: [DONE]\n\n';
const opening = choice('{"role":"assistant","content":"","refusal":null}');

export const streamFixtures: readonly StreamFixture[] = [
  {
    name: 'the protocol as documented, padded',
    frames: [
      choice('{"role":"assistant","content":"","refusal":null}', 'null', ',"usage":null,"obfuscation":"ab"'),
      choice('{"content":"Hel"}', 'null', ',"usage":null,"obfuscation":"abcdef"'),
      choice('{"content":"lo\\n\\u00e9"}', 'null', ',"usage":null,"obfuscation":"a"'),
      choice('{}', '"stop"', ',"usage":null,"obfuscation":""'),
      `data: {${head},"choices":[],${usage(9, 3, ',"prompt_tokens_details":{"cached_tokens":4}')},"obfuscation":"q"}\n\n`,
      done,
    ],
    roles: 'pccfut',
    usage: { input: 9, output: 3 },
    finish: 'stop',
    outputBytes: 8,
  },
  {
    name: 'what describes the message in its opening, and a field of the stream that nobody knows',
    frames: [
      choice(
        '{"role":"assistant","name":"bot","id":"msg_1","type":"message","status":"in_progress","model":"m","object":"x","prefix":"p","content":""}',
      ),
      `x-trace: 7\n${choice('{"content":"a"}')}`,
      `x-trace: 8\n${choice('{"name":"bot"}', '"stop"')}`,
      done,
    ],
    roles: 'pcft',
    usage: null,
    finish: 'stop',
    outputBytes: 1,
  },
  {
    name: 'words in a member of the server',
    frames: [opening, choice('{"musings":"hm"}'), choice('{}', '"stop"'), done],
    roles: 'pcft',
    usage: null,
    finish: 'stop',
    outputBytes: 2,
  },
  {
    name: 'tool calls in pieces, ended with stop',
    frames: [
      choice('{"role":"assistant","content":null}'),
      choice(
        '{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"find","arguments":""}}]}',
      ),
      choice('{"tool_calls":[{"index":0,"function":{"arguments":"{\\"q\\":1}"}}]}'),
      choice('{}', '"stop"'),
      done,
    ],
    roles: 'pccft',
    usage: null,
    finish: 'tool-calls',
    outputBytes: 'find{"q":1}'.length,
  },
  {
    name: 'a refusal, ended with stop',
    frames: [
      opening,
      choice('{"refusal":"No."}'),
      choice('{"refusal":" Sorry."}'),
      choice('{}', '"stop"'),
      done,
    ],
    roles: 'pccft',
    usage: null,
    finish: 'refusal',
    outputBytes: 10,
  },
  {
    name: 'filter results before and between the choices',
    frames: [
      'data: {"choices":[],"created":0,"id":"","model":"","object":"","prompt_filter_results":[{"prompt_index":0}]}\n\n',
      opening,
      choice('{"content":"ok"}'),
      'data: {"choices":[{"index":0,"finish_reason":null,"content_filter_offsets":{"check_offset":1}}]}\n\n',
      choice('{}', '"content_filter"'),
      done,
    ],
    roles: 'ppcpft',
    usage: null,
    finish: 'content-filter',
    outputBytes: 2,
  },
  {
    name: 'reasoning first, usage on the frame that finishes',
    frames: [
      choice('{"role":"assistant","content":null,"reasoning_content":""}', 'null', ',"usage":null'),
      choice('{"content":null,"reasoning_content":"hm"}', 'null', ',"usage":null'),
      choice('{"content":"yes","reasoning_content":null}', 'null', ',"usage":null'),
      choice(
        '{"content":"","reasoning_content":null}',
        '"length"',
        `,${usage(20, 8, ',"prompt_cache_hit_tokens":16')}`,
      ),
      done,
    ],
    roles: 'pccft',
    usage: { input: 20, output: 8 },
    finish: 'length',
    outputBytes: 5,
  },
  {
    name: 'reasoning outside the completion, no finish member until the end',
    frames: [
      `data: {${head},"choices":[{"index":0,"delta":{"reasoning_content":"First","role":"assistant"}}]}\n\n`,
      `data: {${head},"choices":[{"index":0,"delta":{"content":"A"}}]}\n\n`,
      choice('{}', '"stop"'),
      `data: {${head},"choices":[],"usage":{"prompt_tokens":12,"completion_tokens":1,"total_tokens":303,"completion_tokens_details":{"reasoning_tokens":290}}}\n\n`,
      done,
    ],
    roles: 'ccfut',
    usage: { input: 12, output: 291 },
    finish: 'stop',
    outputBytes: 6,
    reasoningOutsideCompletion: true,
  },
  {
    name: 'usage in a member of the server, only there',
    frames: [
      choice('{"role":"assistant","content":""}', 'null', ',"x_groq":{"id":"r"}'),
      choice('{"reasoning":"so"}'),
      choice('{}', '"stop"', `,"x_groq":{"id":"r",${usage(5, 2)}}`),
      done,
    ],
    roles: 'pcft',
    usage: { input: 5, output: 2 },
    finish: 'stop',
    outputBytes: 2,
  },
  {
    name: 'usage within the choice',
    frames: [
      choice('{"content":"a"}'),
      `data: {${head},"choices":[{"index":0,"delta":{},"finish_reason":"stop",${usage(4, 1)}}]}\n\n`,
      done,
    ],
    roles: 'cft',
    usage: { input: 4, output: 1 },
    finish: 'stop',
    outputBytes: 1,
  },
  {
    name: 'usage that grows with every frame, and a role in each',
    frames: [
      choice('{"role":"assistant","content":"a"}', 'null', `,${usage(5, 1)}`),
      choice('{"role":"assistant","content":"b"}', 'null', `,${usage(5, 2)}`),
      choice('{"role":"assistant","content":"c"}', '"stop"', `,${usage(5, 3)}`),
    ],
    roles: 'ccc',
    usage: { input: 5, output: 3 },
    finish: 'stop',
    outputBytes: 3,
  },
  {
    name: 'content in typed parts',
    frames: [
      choice('{"role":"assistant","content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]}]}'),
      choice('{"content":[{"type":"text","text":"4"}]}'),
      choice('{"content":""}', '"stop"', `,${usage(10, 4)}`),
      done,
    ],
    roles: 'ccft',
    usage: { input: 10, output: 4 },
    finish: 'stop',
    outputBytes: 3,
  },
  {
    name: 'a whole tool call on the frame that finishes',
    frames: [
      opening,
      choice(
        '{"content":null,"tool_calls":[{"id":"x","function":{"name":"f","arguments":"{}"}}]}',
        '"tool_calls"',
        `,${usage(9, 4)}`,
      ),
      done,
    ],
    roles: 'pct',
    usage: { input: 9, output: 4 },
    finish: 'tool-calls',
    outputBytes: 3,
  },
  {
    name: 'comments, carriage returns, no space after the colon',
    frames: [
      ': PROCESSING\r\n\r\n',
      'data:{"choices":[{"delta":{"role":"assistant","content":"","tool_calls":null}}]}\r\n\r\n',
      'data:{"choices":[{"delta":{"role":null,"content":"x","tool_calls":null}}]}\r\n\r\n',
      'event: ping\r\ndata: {"type":"ping"}\r\n\r\n',
      'data:{"choices":[{"delta":{},"finish_reason":"eos"}]}\r\n\r\n',
      'data:[DONE]\r\n\r\n',
    ],
    roles: 'lpclft',
    usage: null,
    finish: 'stop',
    outputBytes: 1,
  },
  {
    name: 'sound with its transcript',
    frames: [
      opening,
      choice('{"audio":{"id":"audio_1"}}'),
      choice('{"audio":{"transcript":"hi"}}'),
      choice('{"audio":{"data":"AAAAAAAAAAAA"}}'),
      choice('{}', '"stop"'),
      done,
    ],
    roles: 'pcccft',
    usage: null,
    finish: 'stop',
    outputBytes: 2,
  },
  {
    name: 'two choices in turns',
    frames: [
      `data: {${head},"choices":[{"index":0,"delta":{"role":"assistant"}},{"index":1,"delta":{"role":"assistant"}}]}\n\n`,
      `data: {${head},"choices":[{"index":1,"delta":{"content":"b"}}]}\n\n`,
      `data: {${head},"choices":[{"index":0,"delta":{"content":"a"}}]}\n\n`,
      `data: {${head},"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n`,
      `data: {${head},"choices":[{"index":1,"delta":{},"finish_reason":"length"}]}\n\n`,
      done,
    ],
    roles: 'pccfft',
    usage: null,
    finish: 'length',
    outputBytes: 2,
  },
];
