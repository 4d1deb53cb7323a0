import { fileURLToPath } from 'node:url';
import { type Checked, type CheckName, checkNames, checkRecording } from './checks.ts';
import { readRecordings } from './collections.ts';
import type { Recording } from './recording.ts';

/** The recordings are reference material beside the checkout, not part of it. */
const folder = process.argv[2] ?? fileURLToPath(new URL('../../../shared/protocols/data/', import.meta.url));

/** Problems beyond these are not told in full. */
const problemsShown = 40;

interface Row {
  readonly recordings: number;
  readonly done: Readonly<Record<CheckName, number>>;
  readonly problems: readonly string[];
}

function main(): number {
  const recordings = readRecordings(folder);
  if (recordings.length === 0) {
    console.log(`No recordings at ${folder}: nothing was checked.`);
    return 0;
  }
  const byCollection = Map.groupBy(recordings, ({ collection, protocol }) => `${collection} · ${protocol}`);
  const rows = [...byCollection].map(([title, group]) => ({ title, ...rowOf(group) }));
  printTable(rows);
  const problems = rows.flatMap((row) => row.problems);
  for (const problem of problems.slice(0, problemsShown)) console.error(`\n${problem}`);
  console.log(
    `\n${recordings.length} recorded exchanges checked, ${problems.length === 0 ? 'no problem' : `${problems.length} problems`}.`,
  );
  return problems.length === 0 ? 0 : 1;
}

function rowOf(recordings: readonly Recording[]): Row {
  const checked = recordings.flatMap((recording) =>
    checkRecording(recording).map((each) => ({ ...each, recording })),
  );
  return {
    recordings: recordings.length,
    done: countBy(checked),
    problems: checked.flatMap(({ check, problems, recording }) =>
      problems.map(
        (problem) => `${recording.collection}/${recording.name} (${check}): ${problem.slice(0, 600)}`,
      ),
    ),
  };
}

function countBy(checked: readonly Checked[]): Row['done'] {
  const count = (name: CheckName) =>
    checked.filter(({ check }) => check === name).reduce((sum, { done }) => sum + done, 0);
  return {
    decode: count('decode'),
    relay: count('relay'),
    meter: count('meter'),
    charge: count('charge'),
    seed: count('seed'),
    request: count('request'),
    translate: count('translate'),
  };
}

function printTable(rows: readonly ({ readonly title: string } & Row)[]): void {
  const titles = ['', 'exchanges', ...checkNames, 'problems'];
  const cells = rows.map((row) => [
    row.title,
    String(row.recordings),
    ...checkNames.map((name) => String(row.done[name])),
    String(row.problems.length),
  ]);
  const widths = titles.map((title, column) =>
    Math.max(title.length, ...cells.map((line) => line[column]?.length ?? 0)),
  );
  for (const line of [titles, ...cells])
    console.log(
      line
        .map((cell, column) =>
          column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
        )
        .join('  '),
    );
}

process.exitCode = main();
