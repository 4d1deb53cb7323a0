import type { ProtocolId } from './protocols.ts';
import type { Dialect } from './request.ts';

/** An answer as some server really sends it, which is not quite as its protocol has it; our own words in their shapes. */
export interface OddAnswer {
  readonly name: string;
  readonly protocol: Exclude<ProtocolId, 'images'>;
  /** A stream if it is events, else a whole answer. */
  readonly body: string;
  /** As callers of this protocol get it, where that is not as it came: their clients would miss or refuse something. */
  readonly told?: string;
  /** The edits made for them, as the entry names them. */
  readonly edits?: readonly string[];
  /** The data of its provider say so. */
  readonly dialect?: Partial<Dialect>;
  /** Null where it is a failure in the place of an answer. */
  readonly says: {
    readonly text?: string;
    readonly thoughts?: string;
    /** Names and arguments. */
    readonly calls?: readonly (readonly [string, string])[];
    readonly reason: 'stop' | 'length' | 'tool-calls';
    /** Says that the reason is our own. */
    readonly isUntold?: true;
    /** Null where it is not counted. */
    readonly tokens: readonly [input: number, output: number] | null;
  } | null;
}

const usage = '"usage":{"prompt_tokens":9,"completion_tokens":4,"total_tokens":13}';
const head = '"id":"c-1","object":"chat.completion.chunk","created":1,"model":"m-1"';
const tokens = [9, 4] as const;

/** A chunk with one choice. */
function chunk(delta: string, finish: string | null = 'null', more = ''): string {
  const reason = finish === null ? '' : `,"finish_reason":${finish}`;
  return `{${head},"choices":[{"index":0,"delta":${delta}${reason}}]${more}}`;
}

function events(...data: readonly string[]): string {
  return data.map((each) => `data: ${each}\n\n`).join('');
}

const counted = `{${head},"choices":[],${usage}}`;
const done = '[DONE]';
const look = '{"name":"look","arguments":"{\\"a\\":1}"}';
const calledLook = ['look', '{"a":1}'] as const;

function chatWhole(choice: string): string {
  return `{"id":"c-1","object":"chat.completion","created":1,"model":"m-1","choices":[{"index":0,${choice}}],${usage}}`;
}

const chat: readonly Omit<OddAnswer, 'protocol'>[] = [
  {
    name: 'nulls for all that a delta does not say, and the role in each',
    body: events(
      chunk(
        '{"role":"assistant","content":null,"reasoning_content":"hm","tool_calls":null,"function_call":null}',
      ),
      chunk('{"role":"assistant","content":"Hel","reasoning_content":null,"tool_calls":[]}'),
      chunk('{"role":"assistant","content":"lo","reasoning_content":null,"tool_calls":null,"audio":null}'),
      chunk('{"role":"assistant","content":null}', '"stop"'),
      counted,
      done,
    ),
    says: { text: 'Hello', thoughts: 'hm', reason: 'stop', tokens },
  },
  {
    name: 'no space behind "data:", CRLF, comments and a name of the event',
    body: [
      ': PROCESSING\r\n\r\n',
      `event:message\r\ndata:${chunk('{"content":"Hel"}')}\r\n\r\n`,
      ': keep-alive\r\n\r\n',
      `data:${chunk('{"content":"lo"}', '"stop"', `,${usage}`)}\r\n\r\n`,
      'data:[DONE]\r\n\r\n',
    ].join(''),
    says: { text: 'Hello', reason: 'stop', tokens },
  },
  {
    name: 'no [DONE]',
    body: events(chunk('{"content":"Hello"}'), chunk('{}', '"stop"'), counted),
    told: events(chunk('{"content":"Hello"}'), chunk('{}', '"stop"'), counted, done),
    edits: ['stream-end'],
    says: { text: 'Hello', reason: 'stop', tokens },
  },
  {
    name: 'no [DONE] and no blank line behind the last chunk, and no usage',
    body: events(chunk('{"content":"Hello"}'), chunk('{}', '"stop"')).trimEnd(),
    told: events(chunk('{"content":"Hello"}'), chunk('{}', '"stop"'), done),
    edits: ['stream-end'],
    says: { text: 'Hello', reason: 'stop', tokens: null },
  },
  {
    name: 'a line of a log in the midst of a stream',
    body: events(chunk('{"content":"Hel"}')).concat(
      'upstream busy\n\n',
      events(chunk('{"content":"lo"}'), chunk('{}', '"stop"'), counted, done),
    ),
    told: events(chunk('{"content":"Hel"}'), chunk('{"content":"lo"}'), chunk('{}', '"stop"'), counted, done),
    edits: ['frames-skipped=1'],
    says: { text: 'Hello', reason: 'stop', tokens },
  },
  {
    name: 'signs of life that are events without data',
    body: events(chunk('{"content":"Hel"}')).concat(
      'event: ping\n\ndata:\n\nevent: keep\n\n',
      events(chunk('{"content":"lo"}'), chunk('{}', '"stop"'), counted, done),
    ),
    told: events(chunk('{"content":"Hel"}'), chunk('{"content":"lo"}'), chunk('{}', '"stop"'), counted, done),
    edits: ['event-retold'],
    says: { text: 'Hello', reason: 'stop', tokens },
  },
  {
    name: 'a byte order mark before a stream',
    body: `\uFEFF${events(chunk('{"content":"Hello"}'), chunk('{}', '"stop"'), counted, done)}`,
    told: events(chunk('{"content":"Hello"}'), chunk('{}', '"stop"'), counted, done),
    edits: ['byte-order-mark'],
    says: { text: 'Hello', reason: 'stop', tokens },
  },
  {
    name: 'a byte order mark before a whole answer',
    body: `\uFEFF${chatWhole('"message":{"role":"assistant","content":"Hello"},"finish_reason":"stop"')}`,
    told: chatWhole('"message":{"role":"assistant","content":"Hello"},"finish_reason":"stop"'),
    edits: ['byte-order-mark'],
    says: { text: 'Hello', reason: 'stop', tokens },
  },
  {
    name: 'no choice at all in a whole answer',
    body: `{"id":"c-1","object":"chat.completion","created":1,"model":"m-1","choices":[],"usage":{"prompt_tokens":9,"completion_tokens":0,"total_tokens":9}}`,
    says: null,
  },
  {
    name: 'no choice in any chunk of a stream',
    body: events(`{${head},"choices":[]}`, `{${head},"choices":[],"usage":{"prompt_tokens":9}}`, done),
    says: null,
  },
  ...[
    ['zeros', '{"prompt_tokens":0,"completion_tokens":0,"total_tokens":0}'],
    ['nulls', '{"prompt_tokens":null,"completion_tokens":null,"total_tokens":null}'],
    [
      'counts beyond 2^53',
      '{"prompt_tokens":9007199254740993,"completion_tokens":1e300,"total_tokens":1e300}',
    ],
    ['negative counts', '{"prompt_tokens":-9,"completion_tokens":-4,"total_tokens":-13}'],
    ['words', '{"prompt_tokens":"many","completion_tokens":"few","total_tokens":"more"}'],
    ['a list', '[9,4]'],
  ].flatMap(([what, counts]) => [
    {
      name: `${what} for usage, in a stream`,
      body: events(
        chunk('{"content":"Hello"}'),
        chunk('{}', '"stop"'),
        `{${head},"choices":[],"usage":${counts}}`,
        done,
      ),
      says: { text: 'Hello', reason: 'stop' as const, tokens: null },
    },
    {
      name: `${what} for usage, in a whole answer`,
      body: chatWhole('"message":{"content":"Hello"},"finish_reason":"stop"').replace(
        usage,
        `"usage":${counts}`,
      ),
      says: { text: 'Hello', reason: 'stop' as const, tokens: null },
    },
  ]),
  {
    name: 'fractions for usage',
    body: chatWhole('"message":{"content":"Hello"},"finish_reason":"stop"').replace(
      usage,
      '"usage":{"prompt_tokens":8.6,"completion_tokens":4.2}',
    ),
    says: { text: 'Hello', reason: 'stop', tokens },
  },
  {
    name: 'digits in texts for usage',
    body: chatWhole('"message":{"content":"Hello"},"finish_reason":"stop"').replace(
      usage,
      '"usage":{"prompt_tokens":"9","completion_tokens":"4"}',
    ),
    says: { text: 'Hello', reason: 'stop', tokens: null },
  },
  {
    name: 'no finish reason, or an empty one, before [DONE]',
    body: events(chunk('{"content":"Hel"}', '""'), chunk('{"content":"lo"}', null), counted, done),
    says: { text: 'Hello', reason: 'stop', isUntold: true, tokens },
  },
  {
    name: 'usage in the last choice',
    body: events(
      chunk('{"content":"Hello"}'),
      `{${head},"choices":[{"index":0,"delta":{},"finish_reason":"stop",${usage}}]}`,
      done,
    ),
    says: { text: 'Hello', reason: 'stop', tokens },
  },
  {
    name: 'a chunk about filters before the first, and a null for choices beside the usage',
    body: events(
      '{"id":"","object":"","created":0,"model":"","choices":[],"prompt_filter_results":[{"prompt_index":0}]}',
      chunk('{"content":"Hello"}'),
      chunk('{}', '"stop"'),
      `{${head},"choices":null,${usage}}`,
      done,
    ),
    says: { text: 'Hello', reason: 'stop', tokens },
  },
  {
    name: 'a call whole, without index and type, its arguments an object',
    body: events(
      chunk('{"content":"","tool_calls":[{"id":"x1","function":{"name":"look","arguments":{"a":1}}}]}'),
      chunk('{}', '"stop"', `,${usage}`),
      done,
    ),
    says: { calls: [calledLook], reason: 'tool-calls', tokens },
  },
  {
    name: 'ids, types and names that are null or empty in later pieces of a call',
    body: events(
      chunk(
        '{"tool_calls":[{"index":0,"id":"x1","type":"function","function":{"name":"look","arguments":""}}]}',
      ),
      chunk(
        '{"tool_calls":[{"index":0,"id":null,"type":null,"function":{"name":null,"arguments":"{\\"a\\""}}]}',
      ),
      chunk('{"tool_calls":[{"index":0,"id":"","function":{"name":"","arguments":":1}"}}]}'),
      chunk('{"content":null}', '"tool_calls"', `,${usage}`),
      done,
    ),
    says: { calls: [calledLook], reason: 'tool-calls', tokens },
  },
  {
    name: 'the name and a new id in every piece of a call',
    body: events(
      ...['', '{\\"a\\"', ':1}'].map((text, place) =>
        chunk(
          `{"tool_calls":[{"index":0,"id":"x${place + 1}","type":"function","function":{"name":"look","arguments":"${text}"}}]}`,
        ),
      ),
      chunk('{}', '"tool_calls"', `,${usage}`),
      done,
    ),
    says: { calls: [calledLook], reason: 'tool-calls', tokens },
  },
  {
    name: 'all calls under one index',
    body: events(
      chunk(`{"tool_calls":[{"index":0,"id":"x1","type":"function","function":${look}}]}`),
      chunk(`{"tool_calls":[{"index":0,"id":"x2","type":"function","function":${look}}]}`),
      chunk('{}', '"stop"', `,${usage}`),
      done,
    ),
    says: { calls: [calledLook, calledLook], reason: 'tool-calls', tokens },
  },
  {
    name: 'calls with the members of both forms',
    body: events(
      chunk(
        `{"tool_calls":[{"index":0,"id":"x1","type":"function","custom":{"name":"","input":""},"function":${look}}]}`,
      ),
      chunk(`{"tool_calls":[{"index":1,"id":"x2","type":"function","custom":null,"function":${look}}]}`),
      chunk(
        '{"tool_calls":[{"index":2,"id":"x3","type":"custom","function":null,"custom":{"name":"patch","input":"***"}}]}',
      ),
      chunk('{}', '"tool_calls"', `,${usage}`),
      done,
    ),
    says: { calls: [calledLook, calledLook, ['patch', '***']], reason: 'tool-calls', tokens },
  },
  {
    name: 'an empty delta beside the message of a whole answer',
    body: chatWhole('"delta":{},"message":{"role":"assistant","content":"Hello"},"finish_reason":"stop"'),
    says: { text: 'Hello', reason: 'stop', tokens },
  },
  {
    name: 'the whole answer a second time as a delta',
    body: chatWhole(
      '"message":{"role":"assistant","content":"Hello"},"delta":{"role":"assistant","content":"Hello"},"finish_reason":"stop"',
    ),
    says: { text: 'Hello', reason: 'stop', tokens },
  },
  {
    name: 'a call of a whole answer with the members of both forms, and arguments that are an object',
    body: chatWhole(
      '"message":{"content":null,"refusal":null,"tool_calls":[{"id":"x1","type":"function","function":{"name":"look","arguments":{"a":1}},"custom":{}}]},"finish_reason":"stop"',
    ),
    says: { calls: [calledLook], reason: 'tool-calls', tokens },
  },
  {
    name: 'a content in parts, with thoughts among them',
    body: chatWhole(
      '"message":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]},{"type":"text","text":"Hello"}]},"finish_reason":"stop"',
    ),
    says: { text: 'Hello', thoughts: 'hm', reason: 'stop', tokens },
  },
  {
    name: 'blank lines before a whole answer, for as long as it took',
    body: `\n\n \n${chatWhole('"message":{"role":"assistant","content":"Hello"},"finish_reason":"stop"')}\n`,
    says: { text: 'Hello', reason: 'stop', tokens },
  },
  {
    name: 'a call without arguments, which are null',
    body: events(
      chunk(
        '{"tool_calls":[{"index":0,"id":"x1","type":"function","function":{"name":"look","arguments":null}}]}',
      ),
      chunk('{}', '"tool_calls"', `,${usage}`),
      done,
    ),
    says: { calls: [['look', '']], reason: 'tool-calls', tokens },
  },
  {
    name: 'thoughts under another name, and usage on every chunk',
    body: events(
      chunk(
        '{"role":"assistant","reasoning":"hm"}',
        'null',
        ',"usage":{"prompt_tokens":9,"completion_tokens":1}',
      ),
      chunk('{"content":"Hello"}', 'null', ',"usage":{"prompt_tokens":9,"completion_tokens":3}'),
      chunk('{"content":""}', '"stop"', `,${usage}`),
      done,
    ),
    says: { text: 'Hello', thoughts: 'hm', reason: 'stop', tokens },
  },
  {
    name: 'an error as a field of its own in a stream',
    body: 'error: {"code":500,"message":"context shift failed","type":"server_error"}\n\n',
    says: null,
  },
  {
    name: 'an error in a stream of status 200',
    body: events(
      chunk('{"role":"assistant","content":""}'),
      '{"error":{"message":"overloaded","code":502},"choices":[]}',
      done,
    ),
    says: null,
  },
  {
    name: 'a call that the model could not write, by another vendor’s word',
    body: events(
      chunk('{"role":"assistant"}', '"function_call_filter: MALFORMED_FUNCTION_CALL"', `,${usage}`),
      done,
    ),
    says: null,
  },
];

const responsesEnd = (output: string): string =>
  `{"type":"response.completed","response":{"id":"r-1","object":"response","model":"m-1","status":"completed","output":[${output}],"usage":{"input_tokens":9,"output_tokens":4,"total_tokens":13}}}`;
const begun =
  '{"type":"response.created","response":{"id":"r-1","model":"m-1","status":"in_progress","output":[]}}';
const part = '{"type":"output_text","text":"Hello","annotations":[]}';
const message = `{"id":"m-1","type":"message","role":"assistant","status":"completed","content":[${part}]}`;
const thought =
  '{"id":"t-1","type":"reasoning","summary":[],"content":[{"type":"reasoning_text","text":"hm"}]}';
const call =
  '{"id":"f-1","type":"function_call","call_id":"x1","name":"look","arguments":"{\\"a\\":1}","status":"completed"}';

/** Events of a thought, a text and a call. `place`: of an item, and of a part of it. */
function responsesStream(place: (item: number, part?: number) => string): string {
  return events(
    begun,
    `{"type":"response.output_item.added"${place(0)},"item":{"id":"t-1","type":"reasoning","summary":[]}}`,
    `{"type":"response.reasoning_text.delta","item_id":"t-1"${place(0, 0)},"delta":"hm"}`,
    `{"type":"response.output_item.done"${place(0)},"item":${thought}}`,
    `{"type":"response.output_item.added"${place(1)},"item":{"id":"m-1","type":"message","role":"assistant","content":[]}}`,
    `{"type":"response.content_part.added","item_id":"m-1"${place(1, 0)},"part":{"type":"output_text","text":""}}`,
    `{"type":"response.output_text.delta","item_id":"m-1"${place(1, 0)},"delta":"Hel"}`,
    `{"type":"response.output_text.delta","item_id":"m-1"${place(1, 0)},"delta":"lo"}`,
    `{"type":"response.output_text.done","item_id":"m-1"${place(1, 0)},"text":"Hello"}`,
    `{"type":"response.content_part.done","item_id":"m-1"${place(1, 0)},"part":${part}}`,
    `{"type":"response.output_item.done"${place(1)},"item":${message}}`,
    `{"type":"response.output_item.added"${place(2)},"item":{"id":"f-1","type":"function_call","call_id":"x1","name":"look","arguments":""}}`,
    `{"type":"response.function_call_arguments.delta","item_id":"f-1"${place(2)},"delta":"{\\"a\\":1}"}`,
    `{"type":"response.output_item.done"${place(2)},"item":${call}}`,
    responsesEnd(`${thought},${message},${call}`),
  );
}

const all = {
  text: 'Hello',
  thoughts: 'hm',
  calls: [calledLook],
  reason: 'tool-calls',
  tokens,
} as const;

const saying =
  '{"type":"response.output_text.delta","item_id":"m-1","output_index":0,"content_index":0,"delta":"Hello"}';

const responses: readonly Omit<OddAnswer, 'protocol'>[] = [
  {
    name: 'an end under another name',
    body: events(begun, saying, responsesEnd(message).replace('response.completed', 'response.done')),
    told: `${events(begun, saying, responsesEnd(message).replace('response.completed', 'response.done'))}event: response.completed\n${events(responsesEnd(message).replace('"response":', '"sequence_number":0,"response":'))}`,
    edits: ['stream-end'],
    says: { text: 'Hello', reason: 'stop', tokens },
  },
  {
    name: 'a line of a log in the midst of a stream, and zeros for usage',
    body: events(begun, saying)
      .concat('upstream busy\n\n', events(responsesEnd(message)))
      .replaceAll(/_tokens":\d+/g, '_tokens":0'),
    told: events(begun, saying, responsesEnd(message)).replaceAll(/_tokens":\d+/g, '_tokens":0'),
    edits: ['frames-skipped=1'],
    says: { text: 'Hello', reason: 'stop', tokens: null },
  },
  {
    name: 'parts that go on being counted from one item to the next',
    body: responsesStream((item, part) => {
      const counting = part === undefined ? '' : `,"content_index":${item + part}`;
      return `,"output_index":${item}${counting}`;
    }),
    says: all,
  },
  {
    name: 'no numbers of items and parts at all',
    body: responsesStream(() => ''),
    says: all,
  },
  {
    name: 'other ids of items and calls in the last event than before',
    body: responsesStream(
      (item, part) => `,"output_index":${item}${part === undefined ? '' : ',"content_index":0'}`,
    )
      .split('data: ')
      .map((event) =>
        event.includes('"response.completed"')
          ? event.replaceAll('-1"', '-2"').replace('"x1"', '"x2"')
          : event,
      )
      .join('data: '),
    says: all,
  },
  {
    name: 'calls in the last event alone, and [DONE] behind it',
    body: events(
      begun,
      '{"type":"response.output_text.delta","item_id":"m-1","output_index":0,"content_index":0,"delta":"Hello"}',
      responsesEnd(`${message},${call}`),
      done,
    ),
    says: { text: 'Hello', calls: [calledLook], reason: 'tool-calls', tokens },
  },
  {
    name: 'nothing but whole items',
    body: events(
      begun,
      `{"type":"response.output_item.done","output_index":0,"item":${message}}`,
      `{"type":"response.output_item.done","output_index":1,"item":${call}}`,
      responsesEnd(''),
    ),
    says: { text: 'Hello', calls: [calledLook], reason: 'tool-calls', tokens },
  },
];

const started =
  '{"type":"message_start","message":{"id":"m-1","type":"message","role":"assistant","model":"m-1","content":[],"usage":{"input_tokens":9,"output_tokens":1}}}';
const stopped = (reason: string): readonly string[] => [
  `{"type":"message_delta","delta":{"stop_reason":"${reason}","stop_sequence":null},"usage":{"output_tokens":4}}`,
  '{"type":"message_stop"}',
];

/** The same stream with the names of its events, without which clients pass over them. */
function named(stream: string): string {
  return stream.replaceAll(/data: \{"type":"(\w+)"/g, 'event: $1\n$&');
}

/** Messages in streams whose events have no names. */
const nameless: readonly Omit<OddAnswer, 'protocol'>[] = [
  {
    name: 'no names of events, a second beginning, and blocks without an end',
    body: events(
      started,
      started,
      '{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}',
      '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hello"}}',
      '{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"x1","name":"look","input":{"a":1}}}',
      ...stopped('tool_use'),
    ),
    says: { text: 'Hello', calls: [calledLook], reason: 'tool-calls', tokens },
  },
  {
    name: 'no beginning of the message and of its blocks, and all usage at the end',
    body: events(
      '{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}',
      '{"type":"content_block_stop","index":0}',
      '{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"Hel"}}',
      '{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"lo"}}',
      '{"type":"content_block_stop","index":1}',
      '{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":9,"output_tokens":4}}',
      '{"type":"message_stop"}',
    ),
    says: { text: 'Hello', thoughts: 'hm', reason: 'stop', tokens },
  },
  {
    name: 'no input counted at the beginning, and all of it at the end',
    body: events(
      started.replace('"input_tokens":9', '"input_tokens":0'),
      '{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}',
      '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hello"}}',
      '{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":9,"output_tokens":4}}',
      '{"type":"message_stop"}',
    ),
    says: { text: 'Hello', reason: 'stop', tokens },
  },
];

const bodyOfText = [
  started,
  '{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}',
  '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hello"}}',
];

const messages: readonly Omit<OddAnswer, 'protocol'>[] = [
  ...nameless.map((each) => ({ ...each, told: named(each.body), edits: ['event-retold'] })),
  {
    name: 'no message_stop',
    body: named(events(...bodyOfText, ...stopped('end_turn').slice(0, 1))),
    told: named(events(...bodyOfText, ...stopped('end_turn'))),
    edits: ['stream-end'],
    says: { text: 'Hello', reason: 'stop', tokens },
  },
  {
    name: 'half an event without a name in the midst of those that have one',
    body: named(events(...bodyOfText)).concat('data: {"half\n\n', named(events(...stopped('end_turn')))),
    told: named(events(...bodyOfText, ...stopped('end_turn'))),
    edits: ['frames-skipped=1'],
    says: { text: 'Hello', reason: 'stop', tokens },
  },
  {
    name: 'a byte order mark before a stream, and zeros for usage',
    body: `\uFEFF${named(events(...bodyOfText, ...stopped('end_turn')))}`.replaceAll(
      /_tokens":\d+/g,
      '_tokens":0',
    ),
    told: named(events(...bodyOfText, ...stopped('end_turn'))).replaceAll(/_tokens":\d+/g, '_tokens":0'),
    edits: ['byte-order-mark'],
    says: { text: 'Hello', reason: 'stop', tokens: null },
  },
  {
    name: 'a whole answer without the members that say nothing',
    body: `{"id":"m-1","type":"message","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"Hello"}],"stop_reason":"end_turn","usage":{"input_tokens":9,"output_tokens":4}}`,
    says: { text: 'Hello', thoughts: 'hm', reason: 'stop', tokens },
  },
];

const nativeUsage =
  '"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":4,"totalTokenCount":13},"modelVersion":"m-1"';

function candidate(content: string, finish: string | null = null): string {
  const reason = finish === null ? '' : `,"finishReason":"${finish}"`;
  return `{"candidates":[{"content":${content}${reason},"index":0}],${nativeUsage}}`;
}

const native: readonly Omit<OddAnswer, 'protocol'>[] = [
  {
    name: 'names of events, and comments before their data',
    body: `event: message\ndata: ${candidate('{"parts":[{"text":"Hel"}]}')}\n\n: busy\ndata: ${candidate('{"parts":[{"text":"lo"}]}', 'STOP')}\n\n`,
    told: events(candidate('{"parts":[{"text":"Hel"}]}'), candidate('{"parts":[{"text":"lo"}]}', 'STOP')),
    edits: ['event-retold'],
    says: { text: 'Hello', reason: 'stop', tokens },
  },
  {
    name: 'a line of a log in the midst of a stream',
    body: events(candidate('{"parts":[{"text":"Hel"}]}')).concat(
      'upstream busy\n\n',
      events(candidate('{"parts":[{"text":"lo"}]}', 'STOP')),
    ),
    told: events(candidate('{"parts":[{"text":"Hel"}]}'), candidate('{"parts":[{"text":"lo"}]}', 'STOP')),
    edits: ['frames-skipped=1'],
    says: { text: 'Hello', reason: 'stop', tokens },
  },
  {
    name: 'zeros for usage',
    body: events(candidate('{"parts":[{"text":"Hello"}]}', 'STOP')).replaceAll(/Count":\d+/g, 'Count":0'),
    says: { text: 'Hello', reason: 'stop', tokens: null },
  },
  {
    name: 'a call without arguments, and an end without content',
    body: events(
      candidate('{"role":"model","parts":[{"functionCall":{"name":"look","args":null}}]}'),
      candidate('{"role":"model"}', 'STOP'),
    ),
    says: { calls: [['look', '{}']], reason: 'tool-calls', tokens },
  },
  {
    name: 'counts before anything is said, and an end of its own with them',
    body: events(
      '{"candidates":[],"usageMetadata":{"promptTokenCount":9}}',
      candidate('{"parts":[{"text":"Hel"}]}').replace(`,${nativeUsage}`, ''),
      candidate('{"parts":[{"text":"lo"}],"role":"model"}').replace(`,${nativeUsage}`, ''),
      candidate('{"parts":[{"text":""}]}', 'STOP'),
    ),
    says: { text: 'Hello', reason: 'stop', tokens },
  },
  ...['MALFORMED_FUNCTION_CALL', 'UNEXPECTED_TOOL_CALL', 'TOO_MANY_TOOL_CALLS', 'MALFORMED_RESPONSE'].flatMap(
    (word) => [
      {
        name: `${word}, and nothing else`,
        body: events(`{"candidates":[{"content":{},"finishReason":"${word}","index":0}],${nativeUsage}}`),
        says: null,
      },
      {
        name: `${word} behind a text`,
        body: candidate('{"role":"model","parts":[{"text":"Hello"}]}', word),
        says: null,
      },
    ],
  ),
];

export const oddAnswers: readonly OddAnswer[] = [
  ...chat.map((each) => ({ ...each, protocol: 'chat-completions' as const })),
  ...responses.map((each) => ({ ...each, protocol: 'responses' as const })),
  ...messages.map((each) => ({ ...each, protocol: 'messages' as const })),
  ...native.map((each) => ({ ...each, protocol: 'generate-content' as const })),
];

/** Tells if the answer is a stream. */
export function isStream({ body }: OddAnswer): boolean {
  return !body.trimStart().startsWith('{');
}
