import { expect, test } from 'vitest';
import { writer } from './codec.fixture.ts';
import { MessagesPlace } from './place.ts';

const text = (index: number) => ({
  type: 'content_block_start',
  index,
  content_block: { type: 'text', text: '' },
});
const thought = { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '' } };
const search = {
  type: 'content_block_start',
  index: 0,
  content_block: { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} },
};

test.each([
  ['thoughts are gone on with', thought, true],
  ['a tool of the vendor are not, since its findings are not in them', search, false],
])('words behind %s', (_what, before, isAble) => {
  const told = new MessagesPlace();
  for (const event of [before, text(1)])
    told.note(Buffer.from(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`));
  expect(told.goOn(writer) !== null).toBe(isAble);
});
