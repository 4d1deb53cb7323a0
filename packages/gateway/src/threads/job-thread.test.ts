import { afterEach, expect, test } from 'vitest';
import { JobThread } from './job-thread.ts';

const script = new URL('./echo-worker.fixture.ts', import.meta.url);
const mebibyte = 1024 * 1024;
const threads: JobThread<string, string>[] = [];

/** Why threads have ended by themselves. */
const losses: string[] = [];

function open(waitingMax = 10, jobMsMax = 60_000): JobThread<string, string> {
  const onLost = (why: string): void => void losses.push(why);
  const thread = new JobThread<string, string>(script, { waitingMax, jobMsMax, onLost });
  threads.push(thread);
  return thread;
}

afterEach(async () => {
  for (const thread of threads.splice(0)) await thread.close();
  losses.length = 0;
});

/** The answers of jobs that are handed in together, in the order in which they come. */
async function answersOf(
  thread: JobThread<string, string>,
  jobs: readonly (readonly [by: string, message: string])[],
): Promise<readonly (string | null)[]> {
  const answers: (string | null)[] = [];
  await Promise.all(
    jobs.map(
      ([by, message]) =>
        new Promise<void>((resolve) => {
          thread.run(by, message, new Uint8Array(3), (answer) => {
            answers.push(answer);
            resolve();
          });
        }),
    ),
  );
  return answers;
}

test('each caller has its turn, however many jobs another one has', async () => {
  const jobs = [
    ['hog', 'h1'],
    ['hog', 'h2'],
    ['hog', 'h3'],
    ['other', 'o1'],
  ] as const;
  expect(await answersOf(open(), jobs)).toEqual(['h1 3', 'o1 3', 'h2 3', 'h3 3']);
});

test('a job that ends the thread takes no other one with it', async () => {
  const jobs = [
    ['a', 'throw'],
    ['b', 'b1'],
    ['c', 'throw'],
    ['d', 'd1'],
  ] as const;
  expect(await answersOf(open(), jobs)).toEqual([null, 'b1 3', null, 'd1 3']);
  // The words of an error may be the request's.
  expect(losses).toEqual(['Error', 'Error']);
});

test('a job that hangs is ended with its thread, and the next one is done', async () => {
  const jobs = [
    ['a', 'hang'],
    ['b', 'b1'],
  ] as const;
  expect(await answersOf(open(10, 2000), jobs)).toEqual([null, 'b1 3']);
  expect(losses).toEqual(['a job took too long']);
});

test('beyond its places no job is taken, and those that wait are ended by the close', async () => {
  const thread = open(2);
  const jobs = ['1', '2', '3', '4'].map((message) => ['a', message] as const);
  const answers = answersOf(thread, jobs);
  await thread.close();
  expect((await answers).filter((answer) => answer === null).length).toBeGreaterThanOrEqual(2);
  expect(losses).toEqual([]);
});

test('whoever fills all places makes place for another one, and loses what it handed in last', async () => {
  const jobs = [
    ...['h1', 'h2', 'h3', 'h4', 'h5'].map((name) => ['hog', name] as const),
    ['a', 'a1'] as const,
  ];
  const answers = await answersOf(open(3), jobs);
  expect(answers.filter((answer) => answer !== null)).toEqual(['h1 3', 'a1 3', 'h2 3', 'h3 3']);
  expect(answers).toHaveLength(jobs.length);
});

test('a job that was let go of leaves its place to others', async () => {
  const thread = open(2);
  const hold = answersOf(thread, [['a', '1']]);
  const leave = ['2', '3'].map((name) => thread.run('a', name, new Uint8Array(3), () => undefined));
  for (const each of leave) each();
  expect(
    await answersOf(thread, [
      ['a', '4'],
      ['b', '5'],
    ]),
  ).toEqual(['5 3', '4 3']);
  expect(await hold).toEqual(['1 3']);
});

test('a job that was let go of is not done, and its bytes are not read any more', async () => {
  const thread = open();
  const bytes = new Uint8Array(8 * mebibyte);
  let isCalled = false;
  const leave = thread.run('a', 'left', bytes, () => {
    isCalled = true;
  });
  leave();
  expect(await answersOf(thread, [['a', 'next']])).toEqual(['next 3']);
  expect(isCalled).toBe(false);
});
