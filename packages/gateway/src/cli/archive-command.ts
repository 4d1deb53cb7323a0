import { counted } from '../admin/banner.ts';
import {
  type CommandContext,
  command,
  type ExitReason,
  printFailure,
  printResult,
  readTime,
} from './command.ts';
import { behindText } from './ledger-commands.ts';
import { withWorkspace } from './workspace.ts';

/** Calls of the last day stay, so that whatever ends late finds its call where it began. */
const daysKept = 1;

export const archiveCommand = command({
  name: 'ledger archive',
  summary: 'Move old calls into compressed files, from which they can be read as before',
  options: {
    before: {
      placeholder: 'TIME',
      help: 'Calls begun before this date or time, which must be a day ago at least',
    },
  },
  examples: ['headgate ledger archive --before 2026-08-01'],
  run: runArchive,
});

function runArchive(context: CommandContext): Promise<ExitReason> {
  const { options, output } = context;
  const beforeMs = options['before'] === undefined ? null : readTime(options['before']);
  const isRecent = beforeMs !== null && beforeMs > Date.now() - daysKept * 86_400_000;
  if (beforeMs === null || isRecent) {
    const problem = isRecent
      ? '--before must be a day ago at least: newer calls may still be under way'
      : '--before must be a date or a time such as 2026-08-01 or 2026-08-01T08:00Z';
    printFailure(output, [problem]);
    return Promise.resolve('usage');
  }
  return withWorkspace(context, async ({ store }) => {
    const stop = context.stopping();
    const asOfMs = await store.catchUp();
    let [files, calls, bytes] = [0, 0, 0];
    for (;;) {
      const step = await store.archive(beforeMs);
      if (step === null) break;
      files++;
      calls += step.calls;
      bytes += step.bytes;
      if (!output.json) output.writeError(`${step.file}: ${counted(step.calls, 'call')}\n`);
      // Each file is whole: the next time goes on behind it.
      if (stop.aborted) break;
    }
    const isWhole = !stop.aborted;
    const moved = `${counted(calls, 'call')} moved to ${counted(files, 'file')} of ${(bytes / 1e6).toFixed(1)} MB`;
    printResult(
      output,
      { before: new Date(beforeMs).toISOString(), files, calls, bytes, isWhole },
      calls === 0 && isWhole
        ? 'No calls that old are left to move.'
        : `${moved}${isWhole ? '' : '; stopped before the end, and the same command goes on'}`,
    );
    if (asOfMs !== null) output.writeError(`${behindText(asOfMs)}\n`);
    return isWhole ? 'ok' : 'failed';
  });
}
