import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { reference, whereFound } from '../../test/support/reference.ts';
import { checkRecording } from './checks.ts';
import { readRecordings } from './collections.ts';

whereFound('recorded exchanges are charged at seeded prices', ['pydantic-ai-cassettes', 'vercel-ai'], () => {
  test('recorded exchanges cost at the seeded price of their model what an independent reading of both comes to', () => {
    const checks = readRecordings(fileURLToPath(reference)).flatMap((recording) =>
      checkRecording(recording, ['seed']).map((checked) => ({
        ...checked,
        name: `${recording.collection}/${recording.name}`,
      })),
    );
    const priced = checks.filter(({ done }) => done > 0);
    console.log(`${priced.length} recorded exchanges priced with the seed`);
    expect(priced.length).toBeGreaterThan(200);
    expect(checks.flatMap(({ name, problems }) => problems.map((problem) => `${name}: ${problem}`))).toEqual(
      [],
    );
  });
});
