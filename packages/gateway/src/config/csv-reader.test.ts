import { expect, test } from 'vitest';
import { type CsvRecord, readCsv } from './csv-reader.ts';

function* inPieces(bytes: Uint8Array, size: number): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

function read(text: string, size = 1_000): Promise<CsvRecord[]> {
  return Array.fromAsync(readCsv(inPieces(Buffer.from(text), size)));
}

test.each([
  ['LF', 'a,b\n1,2\n'],
  ['CRLF', 'a,b\r\n1,2\r\n'],
  ['no end of the last line', 'a,b\n1,2'],
  ['a byte order mark', '\ufeffa,b\n1,2\n'],
  ['quotes that nothing needs', '"a","b"\n"1",2\n'],
])('reads a table with %s', async (_name, text) => {
  expect((await read(text)).map((record) => 'cells' in record && record.cells)).toEqual([
    ['a', 'b'],
    ['1', '2'],
  ]);
});

test('commas, quotes and line breaks within quotes are text, and lines are counted as an editor does', async () => {
  const text = 'name,note\n"Grün, ""der"" Erste","zwei\nZeilen"\n\n"x\r\ny",\nlast,"",\n';
  const records = [
    { line: 1, cells: ['name', 'note'] },
    { line: 2, cells: ['Grün, "der" Erste', 'zwei\nZeilen'] },
    { line: 5, cells: ['x\r\ny', ''] },
    { line: 7, cells: ['last', '', ''] },
  ];
  // However the bytes are cut, in the middle of a letter too.
  for (const size of [1, 2, 3, 7, 1_000]) expect(await read(text, size)).toEqual(records);
});

test('a bad line is named and costs no other', async () => {
  expect(await read('a,b\n1,x"y\n3,4\n')).toEqual([
    { line: 1, cells: ['a', 'b'] },
    { line: 2, problem: 'a quote is opened and never closed' },
  ]);
  expect(await read('a,b\n1,x"y"z\n3,4\n')).toEqual([
    { line: 1, cells: ['a', 'b'] },
    { line: 2, problem: 'a quote stands within a cell that is not quoted' },
    { line: 3, cells: ['3', '4'] },
  ]);
});

test('neither a quote that is never closed nor a line without an end is held whole', async () => {
  let produced = 0;
  function* endless(piece: string) {
    for (produced = 0; produced < 200; produced++) yield Buffer.from(piece.repeat(5_000));
  }
  function* opened() {
    yield Buffer.from('"');
    yield* endless('text\n');
  }
  expect(await Array.fromAsync(readCsv(opened()))).toEqual([
    { line: 1, problem: 'a quote is opened and never closed' },
  ]);
  expect(produced).toBeLessThan(20);
  const parts = await Array.fromAsync(readCsv(endless('without an end ')));
  const lengths = parts.map((record) => ('cells' in record ? record.cells.join().length : 0));
  expect(Math.max(...lengths)).toBeLessThan(500_000);
});

test('what has been read is let go of before more is asked for', async () => {
  let produced = 0;
  function* file() {
    for (; produced < 1_000; produced++) yield Buffer.from('1,2\n'.repeat(100));
  }
  let consumed = 0;
  for await (const record of readCsv(file())) {
    expect(record).toMatchObject({ cells: ['1', '2'] });
    consumed++;
    expect(produced * 100 - consumed).toBeLessThanOrEqual(100);
  }
  expect(consumed).toBe(100_000);
});

test('a cell of many lines is read in one pass', async () => {
  const text = `"${'x\n'.repeat(100_000)}"\n`;
  const started = performance.now();
  expect(await read(text, 65_536)).toEqual([{ line: 1, cells: ['x\n'.repeat(100_000)] }]);
  // Looking at it again with every line took seven seconds, on an idle machine.
  expect(performance.now() - started).toBeLessThan(2_000);
});
