import type { Board, BoardRow, Quality, ShownState } from '../board.ts';
import { entryText, incidentTitle } from './incident-words.ts';
import { type Markup, markup } from './markup.ts';
import { isoTime } from './times.ts';
import { pageWords, wordsIn } from './words.ts';

/** `/status.json`: the page for programs. Shares are numbers from 0 to 1, times ISO texts in UTC, latencies milliseconds. */
export function statusJson(board: Board): string {
  const { deployment, nowMs, overall, overhead } = board;
  const { name, consoleOrigin, language, isSimulated, siblings } = deployment;
  const value = {
    deployment: { name, consoleOrigin, language, simulated: isSimulated, siblings },
    asOf: isoTime(nowMs),
    state: overall,
    models: board.models.map((row) => ({ id: row.name, ...rowJson(row) })),
    unmeasured: board.silent,
    channels: board.channels.map(rowJson),
    gateway: {
      overheadP50Us: overhead === null ? null : Math.round(overhead.p50Us),
      overheadP99Us: overhead === null ? null : Math.round(overhead.p99Us),
      lastDay: { share: shareOf(board.all.share) },
    },
    incidents: board.incidents.map((incident) => ({
      id: String(incident.number),
      title: incidentTitle(incident, 'en'),
      state: incident.worst,
      affected: incident.labels,
      startedAt: isoTime(incident.openedAtMs),
      resolvedAt: incident.closedAtMs === null ? null : isoTime(incident.closedAtMs),
      entries: incident.entries
        .filter(({ kind }) => kind !== 'closed')
        .map((entry) => ({ at: isoTime(entry.atMs), kind: entry.kind, text: entryText(entry, 'en') })),
    })),
    maintenance: board.works.map(({ id, title, fromMs, toMs, phase, labels }) => ({
      ...{ id: String(id), title, startsAt: isoTime(fromMs), endsAt: isoTime(toMs), phase },
      affected: labels,
    })),
  };
  return `${JSON.stringify(value)}\n`;
}

function rowJson({ label, state, day, quarter, days }: BoardRow) {
  return {
    name: label,
    state,
    lastDay: qualityJson(day),
    last90Days: { share: shareOf(quarter.share) },
    days: days.map((bar) => ({
      day: isoTime(bar.startMs).slice(0, 10),
      worst: bar.worst,
      share: shareOf(bar.share),
      minutes: bar.minutes,
    })),
  };
}

function qualityJson({ share, p50Ms, p95Ms, isProbed }: Quality) {
  const rounded = (ms: number | null) => (ms === null ? null : Math.round(ms));
  return { share: shareOf(share), ttftP50Ms: rounded(p50Ms), ttftP95Ms: rounded(p95Ms), probed: isProbed };
}

/** Cut after the fifth place: what is not all is never 1. */
function shareOf(share: number | null): number | null {
  return share === null ? null : Math.floor(share * 100_000 + 1e-6) / 100_000;
}

/** `/status/feed.xml`: an Atom feed (RFC 4287) of incidents and of announced work, in the deployment's language. */
export function statusFeed(board: Board): string {
  const { deployment, nowMs } = board;
  const { name, consoleOrigin } = deployment;
  const language = deployment.language === 'zh-CN' ? 'zh' : 'en';
  const words = pageWords[language];
  const entries: { readonly atMs: number; readonly xml: Markup }[] = [
    ...board.incidents.map((incident) => {
      const atMs = Math.max(...incident.entries.map((entry) => entry.atMs));
      const texts = incident.entries.flatMap((entry) => {
        const text = entryText(entry, language);
        return text === '' ? [] : [`${isoTime(entry.atMs).slice(0, 16)}Z ${text}`];
      });
      return entryXml(consoleOrigin, `incident-${incident.number}`, incidentTitle(incident, language), {
        publishedMs: incident.openedAtMs,
        atMs,
        text: texts.join('\n'),
      });
    }),
    ...board.works.map(({ id, title, fromMs, toMs, phase }) =>
      entryXml(consoleOrigin, `maintenance-${id}`, `${words.sections.work}: ${wordsIn(title, language)}`, {
        publishedMs: fromMs,
        atMs: phase === 'done' ? toMs : fromMs,
        text: `${isoTime(fromMs)} – ${isoTime(toMs)}`,
      }),
    ),
  ];
  const updatedMs = Math.max(...entries.map(({ atMs }) => atMs), entries.length === 0 ? nowMs : 0);
  const feed = markup`<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="${words.tag}">
<id>${consoleOrigin}/status</id>
<title>${name} · ${words.title}</title>
<updated>${isoTime(updatedMs)}</updated>
<author><name>${name}</name></author>
<link rel="self" type="application/atom+xml" href="${consoleOrigin}/status/feed.xml"/>
<link rel="alternate" type="text/html" href="${consoleOrigin}/status"/>
${entries.toSorted((a, b) => b.atMs - a.atMs).map(({ xml }) => xml)}</feed>
`;
  return feed.text;
}

function entryXml(
  origin: string,
  anchor: string,
  title: string,
  { publishedMs, atMs, text }: { readonly publishedMs: number; readonly atMs: number; readonly text: string },
) {
  const link = `${origin}/status#${anchor}`;
  const xml = markup`<entry>
<id>${link}</id>
<title>${title}</title>
<published>${isoTime(publishedMs)}</published>
<updated>${isoTime(atMs)}</updated>
<link rel="alternate" type="text/html" href="${link}"/>
<content type="text">${text}</content>
</entry>
`;
  return { atMs, xml };
}

/** Dark enough for white letters (4.5:1). */
const badgeColours: Readonly<Record<ShownState, string>> = {
  operational: '#15803d',
  degraded: '#a16207',
  partial: '#c2410c',
  outage: '#b91c1c',
  unknown: '#57606a',
  maintenance: '#1d4ed8',
};

/** `/status/badge/MODEL.svg`: two words for a README. */
export function statusBadge(label: string, state: ShownState): string {
  const said = pageWords.en.states[state];
  const [left, right] = [widthOf(label), widthOf(said)];
  const width = left + right;
  return markup`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="20" role="img" aria-label="${label}: ${said}"><title>${label}: ${said}</title><clipPath id="r"><rect width="${width}" height="20" rx="4"/></clipPath><g clip-path="url(#r)"><rect width="${left}" height="20" fill="#30363d"/><rect x="${left}" width="${right}" height="20" fill="${badgeColours[state]}"/></g><g fill="#fff" font-family="system-ui,-apple-system,Segoe UI,sans-serif" font-size="11" text-anchor="middle"><text x="${left / 2}" y="14" textLength="${left - 12}">${label}</text><text x="${left + right / 2}" y="14" textLength="${right - 12}">${said}</text></g></svg>
`.text;
}

/** Letters beyond Latin are about twice as wide. */
function widthOf(text: string): number {
  return [...text].reduce((sum, letter) => sum + ((letter.codePointAt(0) ?? 0) > 0x2e80 ? 11 : 6.4), 12);
}
