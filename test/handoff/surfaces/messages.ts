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

const stops: Readonly<Record<string, Stop>> = {
  end_turn: 'stop',
  max_tokens: 'length',
  tool_use: 'tools',
  refusal: 'refusal',
};

export const messages: SurfaceDialogue = {
  id: 'messages',
  platform: 'messages',
  endMark: 'message_stop',
  begin: ({ prompt, image }) => {
    const source = { type: 'base64', media_type: 'image/png', data: image };
    const picture = image === undefined ? [] : [{ type: 'image', source }];
    return [{ role: 'user', content: [...picture, { type: 'text', text: prompt }] }];
  },
  request: (model, ask, history, stream) => ({
    path: '/v1/messages',
    body: { model, messages: history, stream, ...settings(ask) },
  }),
  readWhole: (answer) => {
    must(answer['type'] === 'message' && answer['role'] === 'assistant', 'not a message');
    return readMessage(answer);
  },
  readStream,
  goOn: (history, said, results) => [
    ...history,
    ...said.turn,
    {
      role: 'user',
      content: said.calls.map(({ id }, index) => ({
        type: 'tool_result',
        tool_use_id: id,
        content: results[index],
      })),
    },
  ],
};

function settings({ tools, schema, reasoning, maxTokens }: Ask): Json {
  const offered = tools?.map(({ name, parameters }) => ({ name, input_schema: parameters }));
  return {
    max_tokens: maxTokens ?? 4096,
    ...(offered === undefined ? {} : { tools: offered }),
    ...(schema === undefined ? {} : { output_config: { format: { type: 'json_schema', schema } } }),
    ...(reasoning === true ? { thinking: { type: 'enabled', budget_tokens: 2048 } } : {}),
  };
}

function readMessage(message: Json): Said {
  const content = list(message['content']);
  const ofType = (type: string) => content.filter((block) => block['type'] === type);
  const stop = stops[text(message['stop_reason'])];
  must(stop !== undefined, `unknown stop reason ${message['stop_reason']}`);
  for (const block of ofType('thinking')) must(text(block['signature']) !== '', 'unsigned thoughts');
  const spoken = ofType('text')
    .map((block) => text(block['text']))
    .join('');
  const usage = json(message['usage']);
  return {
    text: stop === 'refusal' ? '' : spoken,
    refusal: stop === 'refusal' ? spoken : '',
    reasoning: ofType('thinking')
      .map((block) => text(block['thinking']))
      .join(''),
    calls: ofType('tool_use').map(({ id, name, input }) => ({
      id: text(id),
      name: text(name),
      input: json(input),
    })),
    stop: stop ?? 'stop',
    tokens: { input: count(usage['input_tokens']), output: count(usage['output_tokens']) },
    turn: [{ role: 'assistant', content }],
  };
}

function readStream(body: string): Said {
  const events = eventsOf(body).map(({ name, data }) => {
    const event = json(JSON.parse(data));
    must(event['type'] === name, `the event ${name} says it is ${event['type']}`);
    return event;
  });
  must(events[0]?.['type'] === 'message_start', 'no beginning');
  must(events.at(-1)?.['type'] === 'message_stop', 'no end');
  const message = { ...json(events[0]?.['message']) };
  count(json(message['usage'])['output_tokens']);
  const blocks: Json[] = [];
  let open: Json | null = null;
  for (const event of events.slice(1, -1)) open = takeEvent(event, { message, blocks, open });
  must(open === null, 'a block was left open');
  return readMessage({ ...message, content: blocks });
}

interface Assembly {
  readonly message: Json;
  readonly blocks: Json[];
  readonly open: Json | null;
}

/** The block that is open after the event. */
function takeEvent(event: Json, { message, blocks, open }: Assembly): Json | null {
  switch (event['type']) {
    case 'ping':
      return open;
    case 'content_block_start': {
      must(open === null && event['index'] === blocks.length, 'a block out of order');
      const block = { ...json(event['content_block']) };
      if (block['type'] === 'tool_use') block['input'] = '';
      blocks.push(block);
      return block;
    }
    case 'content_block_delta':
      must(open !== null && event['index'] === blocks.length - 1, 'a delta of no block');
      if (open !== null) takeDelta(open, json(event['delta']));
      return open;
    case 'content_block_stop':
      must(open !== null && event['index'] === blocks.length - 1, 'the end of no block');
      if (open?.['type'] === 'tool_use') open['input'] = JSON.parse(text(open['input']) || '{}');
      return null;
    case 'message_delta':
      Object.assign(message, json(event['delta']), {
        usage: { ...json(message['usage']), ...json(event['usage']) },
      });
      return open;
    default:
      throw new Error(`an unknown event ${event['type']}`);
  }
}

function takeDelta(block: Json, delta: Json): void {
  const add = (name: string, piece: unknown) => {
    block[name] = `${block[name] ?? ''}${text(piece)}`;
  };
  switch (delta['type']) {
    case 'text_delta':
      return add('text', delta['text']);
    case 'thinking_delta':
      return add('thinking', delta['thinking']);
    case 'signature_delta':
      return add('signature', delta['signature']);
    case 'input_json_delta':
      return add('input', delta['partial_json']);
    default:
      throw new Error(`an unknown delta ${delta['type']}`);
  }
}
