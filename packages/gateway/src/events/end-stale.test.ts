import { expect, test } from 'vitest';
import type { EventSink, KeptEvent } from '../ports/events.ts';
import { endStale } from './end-stale.ts';

test('all that nobody ended is ended, however much of it there is', async () => {
  const many = 1200;
  const kind = 'unpriced-model';
  // As much of an event as is looked at.
  const left = Array.from({ length: many }, (_, at) => {
    const event = { id: String(at), kind, detail: { model: `m-${at}` }, endedAtMs: at % 2 === 0 ? null : 1 };
    return event as unknown as KeptEvent;
  });
  const list = (filter: { readonly kind?: string }, limit: number, before: string | null) => {
    const from = before === null ? 0 : Number(before) + 1;
    return Promise.resolve(filter.kind === kind ? left.slice(from, from + limit) : []);
  };
  const over: unknown[] = [];
  const sink: EventSink = { raise: () => undefined, over: (_, { model }) => void over.push(model) };
  await endStale({ list }, sink, [[kind, { model: 'm-0' }]]);
  const expected = left.filter(({ endedAtMs }) => endedAtMs === null).map(({ detail }) => detail['model']);
  expect(over).toEqual(expected.slice(1));
});
