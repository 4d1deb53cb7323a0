import { setTimeout } from 'node:timers/promises';
import { fail, type Result, succeed } from '@headgate/protocols';
import { counted } from '../admin/banner.ts';
import { alertKindNames } from '../catalogue/alert-kinds.ts';
import { type EventFilter, type OperatorEvent, severities } from '../ports/events.ts';
import { readCount, readMoment } from './call-filter.ts';
import {
  type Command,
  type CommandContext,
  command,
  type ExitReason,
  jsonText,
  peopleText,
  printFailure,
  printResult,
} from './command.ts';
import { cut, right, statusText, tableText, tableWithNotes } from './table.ts';
import { withWorkspace } from './workspace.ts';

const daysBack = '7d';
const limitMax = 1000;
const limitUsual = 20;
const lookEveryMs = 500;

const filterOptions = {
  since: { placeholder: 'TIME', help: 'Events since a date or time, or of the last 30m, 12h or 7d (7d)' },
  kind: { placeholder: 'KIND', help: 'Events of one kind, such as missing-credential' },
  severity: { placeholder: 'SEVERITY', help: severities.join(', ') },
};

export const eventsCommands: readonly Command[] = [
  command({
    name: 'events list',
    summary: 'List what operators should hear of, newest first',
    options: {
      ...filterOptions,
      limit: { placeholder: 'N', help: `So many at most, to ${limitMax} (${limitUsual})` },
      before: { placeholder: 'ID', help: 'Events older than this one: the next page' },
    },
    examples: ['headgate events list --severity error', 'headgate events list --kind channel-out-of-service'],
    run: listEvents,
  }),
  command({
    name: 'events tail',
    summary: 'Print events as they begin and end, until it is stopped',
    options: filterOptions,
    examples: ['headgate events tail', 'headgate events tail --severity error --json'],
    run: tailEvents,
  }),
];

/** Reads the filter; the error says what is wrong. */
function readFilter(
  { kind, severity, since }: Readonly<Record<string, string>>,
  nowMs: number,
  sinceUsual: string,
): Result<EventFilter, string> {
  const fromMs = readMoment(since ?? sinceUsual, nowMs);
  if (fromMs === null)
    return fail('--since must be a date or time such as 2026-11-21T08:00Z, or 30m, 12h or 7d');
  const knownKind = alertKindNames.find((name) => name === kind);
  if (kind !== undefined && knownKind === undefined)
    return fail(`--kind must be one of ${alertKindNames.join(', ')}`);
  const knownSeverity = severities.find((name) => name === severity);
  if (severity !== undefined && knownSeverity === undefined)
    return fail(`--severity must be one of ${severities.join(', ')}`);
  return succeed({
    fromMs,
    ...(knownKind === undefined ? {} : { kind: knownKind }),
    ...(knownSeverity === undefined ? {} : { severity: knownSeverity }),
  });
}

function listEvents(context: CommandContext): Promise<ExitReason> {
  const { options, output } = context;
  const filter = readFilter(options, Date.now(), daysBack);
  const limit = readCount(options['limit'], limitMax, limitUsual);
  if (!filter.ok || limit === null) {
    printFailure(output, [filter.ok ? `--limit must be a whole number from 1 to ${limitMax}` : filter.error]);
    return Promise.resolve('usage');
  }
  return withWorkspace(context, async ({ store, clock }) => {
    const found = await store.events.list(filter.value, limit + 1, options['before'] ?? null);
    const events = found.slice(0, limit);
    const next = found.length > limit ? (events.at(-1)?.id ?? null) : null;
    printResult(output, { events, next }, listText(events, next, clock.now(), output));
    return 'ok';
  });
}

const titles = ['last time (utc)', 'severity', 'kind', 'subject', right('count'), 'ended'];
const kindWidth = Math.max(...alertKindNames.map((name) => name.length));

function listText(
  events: readonly OperatorEvent[],
  next: string | null,
  nowMs: number,
  output: CommandContext['output'],
): string {
  if (events.length === 0) return 'There are no such events.';
  const rows = events.map((event) => cellsOf(event, nowMs, output.color));
  const table = tableWithNotes(titles, rows, events.map(detailText), output);
  return `${table}\n\n${next === null ? counted(events.length, 'event') : `Older ones: the same with --before ${next}`}`;
}

function cellsOf(event: OperatorEvent, nowMs: number, color: boolean): readonly string[] {
  const { severity, kind, subject, count, lastAtMs, endedAtMs } = event;
  const mood = severity === 'error' ? 'bad' : 'idle';
  const isOver = endedAtMs !== null && endedAtMs <= nowMs;
  return [
    momentText(lastAtMs),
    statusText(severity, isOver ? 'good' : mood, color),
    kind,
    cut(subject === '' ? '–' : subject, 30),
    count.toLocaleString('en'),
    isOver ? momentText(endedAtMs) : '–',
  ];
}

function momentText(timeMs: number): string {
  return new Date(timeMs).toISOString().slice(5, 19).replace('T', ' ');
}

/** The members of the detail that the subject does not name. */
function detailText({ detail, subject }: OperatorEvent): string {
  return Object.entries(detail)
    .filter(([name, value]) => name !== 'subject' && !subject.includes(String(value)))
    .map(([name, value]) =>
      name.endsWith('AtMs') && typeof value === 'number'
        ? `${name.slice(0, -2)}: ${momentText(value)}`
        : `${name}: ${value}`,
    )
    .join(', ');
}

function tailEvents(context: CommandContext): Promise<ExitReason> {
  const { options, output } = context;
  const filter = readFilter(options, Date.now(), daysBack);
  if (!filter.ok) {
    printFailure(output, [filter.error]);
    return Promise.resolve('usage');
  }
  return withWorkspace(context, async ({ store, clock }) => {
    const stop = context.stopping();
    let { mark } = await store.events.follow(filter.value, null);
    let isBegun = false;
    for (;;) {
      // The look that finds itself told to stop is the last one, so that nothing that has happened is left out.
      const isLast = stop.aborted;
      const { events, mark: next } = await store.events.follow(filter.value, mark);
      mark = next;
      if (output.json) for (const event of events) output.write(`${jsonText(event)}\n`);
      else if (events.length > 0) {
        const rows = events.map((event) => cellsOf(event, clock.now(), output.color));
        const lines = tableText(titles, rows, output.color, undefined, tailWidths).split('\n');
        output.write(`${peopleText(lines.slice(isBegun ? 1 : 0).join('\n'))}\n`);
        isBegun = true;
      }
      if (isLast) return 'ok';
      await setTimeout(lookEveryMs, null, { signal: stop }).catch(() => null);
    }
  });
}

/** Columns stay where they are although their rows come one by one. */
const tailWidths = [14, 9, kindWidth, 30];
