import { expect, test } from 'vitest';
import { writerContext } from './codec.fixture.ts';
import { ResponsesPlace } from './place.ts';

const item = { id: 'msg_1', type: 'message', status: 'in_progress', role: 'assistant', content: [] };
const part = { type: 'output_text', text: 'One', annotations: [] };
const place = { item_id: 'msg_1', output_index: 0, content_index: 0 };
const events = [
  { type: 'response.created', response: { id: 'resp_1', status: 'in_progress', output: [] } },
  { type: 'response.output_item.added', output_index: 0, item },
  { type: 'response.content_part.added', ...place, part: { ...part, text: '' } },
  { type: 'response.output_text.delta', ...place, delta: 'One' },
  { type: 'response.output_text.done', ...place, text: 'One' },
  { type: 'response.content_part.done', ...place, part },
  { type: 'response.content_part.added', ...place, content_index: 1, part: { ...part, text: '' } },
  { type: 'response.output_text.delta', ...place, content_index: 1, delta: 'Two' },
];

test('a text goes on until the caller has been told that it is whole', () => {
  const told = new ResponsesPlace();
  const able = events.map((event, number) => {
    const data = JSON.stringify({ ...event, sequence_number: number });
    told.note(Buffer.from(`event: ${event.type}\ndata: ${data}\n\n`));
    return told.goOn(writerContext()) !== null;
  });
  expect(able).toEqual([false, true, true, true, false, true, true, true]);
});

test('words behind a tool of the vendor are not gone on with, since its findings are not in them', () => {
  const search = { id: 'ws_1', type: 'web_search_call', status: 'completed' };
  const found = [
    { type: 'response.output_item.added', output_index: 0, item: search },
    { type: 'response.output_item.done', output_index: 0, item: search },
  ];
  const [created, ...rest] = events;
  const told = new ResponsesPlace();
  const said = [created, ...found, ...rest.slice(0, 3).map((event) => ({ ...event, output_index: 1 }))];
  for (const event of said) told.note(Buffer.from(`data: ${JSON.stringify(event)}\n\n`));
  expect(told.goOn(writerContext())).toBeNull();
});
