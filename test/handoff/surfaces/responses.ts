import {
  type Ask,
  count,
  eventsOf,
  type Json,
  json,
  list,
  must,
  type Said,
  type Stop,
  type SurfaceDialogue,
  text,
} from '../dialogue.ts';

export const responses: SurfaceDialogue = {
  id: 'responses',
  platform: 'completions',
  endMark: /response\.(completed|incomplete)/,
  begin: ({ prompt, image }) => {
    const picture = { type: 'input_image', image_url: `data:image/png;base64,${image}`, detail: 'auto' };
    const content = [...(image === undefined ? [] : [picture]), { type: 'input_text', text: prompt }];
    return [{ type: 'message', role: 'user', content }];
  },
  request: (model, ask, history, stream) => ({
    path: '/v1/responses',
    body: { model, input: history, store: false, stream, ...settings(ask) },
  }),
  readWhole: readResponse,
  readStream,
  goOn: (history, said, results) => [
    ...history,
    ...said.turn,
    ...said.calls.map(({ id }, index) => ({
      type: 'function_call_output',
      call_id: id,
      output: results[index],
    })),
  ],
};

function settings({ tools, schema, reasoning, maxTokens }: Ask): Json {
  const functions = tools?.map((tool) => ({ type: 'function', strict: false, ...tool }));
  const format = { type: 'json_schema', name: 'answer', schema, strict: true };
  const thinking = {
    reasoning: { effort: 'medium', summary: 'auto' },
    include: ['reasoning.encrypted_content'],
  };
  return {
    ...(functions === undefined ? {} : { tools: functions }),
    ...(schema === undefined ? {} : { text: { format } }),
    ...(reasoning === true ? thinking : {}),
    ...(maxTokens === undefined ? {} : { max_output_tokens: maxTokens }),
  };
}

/** Members that a client of this surface reads without asking whether they are there. */
const required = [
  ...['id', 'object', 'created_at', 'status', 'error', 'incomplete_details', 'instructions', 'model'],
  ...['output', 'parallel_tool_calls', 'tool_choice', 'tools', 'usage', 'metadata', 'temperature', 'top_p'],
];

function readResponse(response: Json): Said {
  for (const name of required) must(response[name] !== undefined, `no ${name}`);
  must(response['object'] === 'response', 'not a response');
  const output = list(response['output']);
  const ofType = (type: string) => output.filter((item) => item['type'] === type);
  const parts = ofType('message').flatMap((item) => list(item['content']));
  const joined = (type: string, name: string) =>
    parts
      .filter((part) => part['type'] === type)
      .map((part) => text(part[name]))
      .join('');
  const calls = ofType('function_call').map((item) => ({
    id: text(item['call_id']),
    name: text(item['name']),
    input: JSON.parse(text(item['arguments'])) as unknown,
  }));
  const usage = json(response['usage']);
  json(usage['input_tokens_details']);
  json(usage['output_tokens_details']);
  const refusal = joined('refusal', 'refusal');
  return {
    text: joined('output_text', 'text'),
    refusal,
    reasoning: ofType('reasoning')
      .flatMap((item) => list(item['summary']))
      .map((part) => text(part['text']))
      .join(''),
    calls,
    stop: stopOf(response, calls.length > 0, refusal),
    tokens: { input: count(usage['input_tokens']), output: count(usage['output_tokens']) },
    turn: output,
  };
}

function stopOf(response: Json, calls: boolean, refusal: string): Stop {
  if (response['status'] === 'incomplete') {
    const reason = text(json(response['incomplete_details'])['reason']);
    return reason === 'max_output_tokens' ? 'length' : 'refusal';
  }
  must(response['status'] === 'completed', `the status is ${response['status']}`);
  if (refusal !== '') return 'refusal';
  return calls ? 'tools' : 'stop';
}

/** Follows every item from its addition to its end; what the deltas say must be what the items say in the end. */
function readStream(body: string): Said {
  const events = eventsOf(body)
    .filter(({ data }) => data !== '[DONE]')
    .map(({ name, data }) => {
      const event = json(JSON.parse(data));
      must(event['type'] === name, `the event ${name} says it is ${event['type']}`);
      return event;
    });
  for (const [index, event] of events.entries())
    must(event['sequence_number'] === index, `event ${index} has the number ${event['sequence_number']}`);
  must(events[0]?.['type'] === 'response.created', 'no beginning');
  must(events[1]?.['type'] === 'response.in_progress', 'not in progress');
  const end = events.at(-1);
  must(/^response\.(completed|incomplete)$/.test(text(end?.['type'])), 'no end');
  const whole = json(end?.['response']);
  must(json(events[0]?.['response'])['id'] === whole['id'], 'another id at the end');
  followItems(events.slice(2, -1), list(whole['output']));
  return readResponse(whole);
}

function followItems(events: readonly Json[], output: readonly Json[]): void {
  const deltas = new Map<string, string>();
  let added = 0;
  let done = 0;
  for (const event of events) {
    const type = text(event['type']);
    if (type === 'response.output_item.added') {
      must(event['output_index'] === added++, 'an item out of order');
    } else if (type === 'response.output_item.done') {
      must(event['output_index'] === done, 'the end of an item out of order');
      must(JSON.stringify(event['item']) === JSON.stringify(output[done]), 'an item changed at the end');
      done++;
    } else {
      takeDelta(event, type, output, deltas);
    }
  }
  must(added === output.length && done === output.length, 'items are missing');
}

function takeDelta(event: Json, type: string, output: readonly Json[], deltas: Map<string, string>): void {
  const item = output[count(event['output_index'])];
  must(event['item_id'] === item?.['id'], `${type} is of another item`);
  const place = [event['item_id'], event['content_index'], event['summary_index']].join('/');
  if (type.endsWith('.delta')) {
    const key = `${type.slice(0, -'.delta'.length)} ${place}`;
    deltas.set(key, `${deltas.get(key) ?? ''}${text(event['delta'])}`);
  } else if (type.endsWith('.done')) {
    const key = `${type.slice(0, -'.done'.length)} ${place}`;
    const said = event['text'] ?? event['arguments'] ?? event['refusal'];
    if (deltas.has(key)) must(said === deltas.get(key), `${type} says something else than its deltas`);
  }
}
