import {
  type Ask,
  type Call,
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

const stops: Readonly<Record<string, Stop>> = {
  stop: 'stop',
  length: 'length',
  tool_calls: 'tools',
  content_filter: 'refusal',
};

export const chatCompletions: SurfaceDialogue = {
  id: 'chat-completions',
  platform: 'completions',
  endMark: '[DONE]',
  begin: ({ prompt, image }) => {
    const picture = { type: 'image_url', image_url: { url: `data:image/png;base64,${image}` } };
    const parts = [...(image === undefined ? [] : [picture]), { type: 'text', text: prompt }];
    return [{ role: 'user', content: image === undefined ? prompt : parts }];
  },
  request: (model, ask, history, stream) => ({
    path: '/v1/chat/completions',
    body: {
      model,
      messages: history,
      ...settings(ask),
      ...(stream ? { stream, stream_options: { include_usage: true } } : {}),
    },
  }),
  readWhole: (answer) => {
    must(answer['object'] === 'chat.completion', 'not a completion');
    const [choice] = list(answer['choices']);
    return readMessage(json(choice?.['message']), text(choice?.['finish_reason']), json(answer['usage']));
  },
  readStream,
  goOn: (history, said, results) => [
    ...history,
    ...said.turn,
    ...said.calls.map(({ id }, index) => ({ role: 'tool', tool_call_id: id, content: results[index] })),
  ],
};

function settings({ tools, schema, reasoning, maxTokens }: Ask): Json {
  const functions = tools?.map((tool) => ({ type: 'function', function: tool }));
  const format = { type: 'json_schema', json_schema: { name: 'answer', schema, strict: true } };
  return {
    ...(functions === undefined ? {} : { tools: functions }),
    ...(schema === undefined ? {} : { response_format: format }),
    ...(reasoning === true ? { reasoning_effort: 'medium' } : {}),
    ...(maxTokens === undefined ? {} : { max_completion_tokens: maxTokens }),
  };
}

function readMessage(message: Json, finish: string, usage: Json): Said {
  must(message['role'] === 'assistant', 'not the assistant');
  const toolCalls = message['tool_calls'] === undefined ? [] : list(message['tool_calls']);
  const refusal = typeof message['refusal'] === 'string' ? message['refusal'] : '';
  const stop = stops[finish];
  must(stop !== undefined, `unknown finish reason ${finish}`);
  return {
    text: typeof message['content'] === 'string' ? message['content'] : '',
    reasoning: typeof message['reasoning_content'] === 'string' ? message['reasoning_content'] : '',
    refusal,
    calls: toolCalls.map(readCall),
    stop: refusal === '' ? (stop ?? 'stop') : 'refusal',
    tokens: { input: count(usage['prompt_tokens']), output: count(usage['completion_tokens']) },
    turn: [message],
  };
}

function readCall(call: Json): Call {
  must(call['type'] === 'function', 'not a function');
  const called = json(call['function']);
  return { id: text(call['id']), name: text(called['name']), input: JSON.parse(text(called['arguments'])) };
}

/** Puts the deltas together as clients do: strings are joined, calls by their index. */
function readStream(body: string): Said {
  const events = eventsOf(body);
  must(events.at(-1)?.data === '[DONE]', 'no end');
  const chunks = events.slice(0, -1).map(({ data }) => json(JSON.parse(data)));
  const message: Json = { role: 'assistant', content: null };
  const calls = new Map<number, Json>();
  let finish = '';
  let usage: Json | null = null;
  const id = chunks[0]?.['id'];
  for (const chunk of chunks) {
    must(chunk['object'] === 'chat.completion.chunk' && chunk['id'] === id, 'not a chunk of this answer');
    count(chunk['created']);
    if (chunk['usage'] != null) usage = json(chunk['usage']);
    for (const choice of list(chunk['choices'])) {
      must(finish === '' || choice['finish_reason'] === null, 'something after the end');
      must(choice['index'] === 0, 'another choice');
      takeDelta(message, calls, json(choice['delta']));
      if (choice['finish_reason'] !== null) finish = text(choice['finish_reason']);
    }
  }
  if (calls.size > 0) message['tool_calls'] = [...calls.values()];
  return readMessage(message, finish, json(usage));
}

function takeDelta(message: Json, calls: Map<number, Json>, delta: Json): void {
  for (const name of ['content', 'reasoning_content', 'refusal']) {
    const piece = delta[name];
    if (typeof piece === 'string') message[name] = `${message[name] ?? ''}${piece}`;
  }
  // A part that is neither text nor a call is opaque to a client, and goes back as it came.
  for (const [name, value] of Object.entries(delta)) {
    if (Array.isArray(value) && name !== 'tool_calls')
      message[name] = [...(message[name] === undefined ? [] : list(message[name])), ...list(value)];
  }
  if (delta['tool_calls'] === undefined) return;
  for (const piece of list(delta['tool_calls'])) takeCall(calls, piece);
}

function takeCall(calls: Map<number, Json>, { index, ...piece }: Json): void {
  const place = count(index);
  must(place <= calls.size, 'a call out of order');
  const call = calls.get(place);
  const called = json(piece['function']);
  if (call === undefined) {
    text(piece['id']);
    calls.set(place, { ...piece, function: { ...called, arguments: called['arguments'] ?? '' } });
    return;
  }
  const known = json(call['function']);
  known['arguments'] = `${text(known['arguments'])}${text(called['arguments'])}`;
}
