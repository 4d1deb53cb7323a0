import { expect, test } from 'vitest';
import { sortRows } from './table-model.ts';

const rows = [{ of: 'b2' }, { of: null }, { of: 'a10' }, { of: 'a9' }];

test('rows are sorted as people count, and those without a value stay at the end', () => {
  const by = ({ of }: { readonly of: string | null }) => of;
  expect(sortRows(rows, by, false).map(by)).toEqual(['a9', 'a10', 'b2', null]);
  expect(sortRows(rows, by, true).map(by)).toEqual(['b2', 'a10', 'a9', null]);
});

test('numbers are sorted by what they are', () => {
  const by = (value: { readonly of: number }) => value.of;
  expect(sortRows([{ of: 10 }, { of: -1 }, { of: 9 }], by, false).map(by)).toEqual([-1, 9, 10]);
});
