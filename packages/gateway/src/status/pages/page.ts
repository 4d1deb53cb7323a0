import type { Board, BoardIncident, BoardRow, BoardWork, Quality } from '../board.ts';
import { barsOf, chartTop, dayChart, daysInWords } from './charts.ts';
import { glyph } from './glyphs.ts';
import { entryText, incidentTitle, lastingText } from './incident-words.ts';
import { type Markup, markup } from './markup.ts';
import { isoTime, timeText } from './times.ts';
import { milliseconds, type PageLanguage, pageWords, percent, wordsIn } from './words.ts';

/** Charts of a day are drawn for so many subjects; every one has its bars. */
const chartsMax = 80;
/** Rows of a page: beyond it subjects are named with their state alone. */
const rowsMax = 120;

/** The page in a language. `stylesheet` is the path of its one style sheet. */
export function statusPage(board: Board, language: PageLanguage, stylesheet: string): string {
  const { deployment, nowMs, overall, models, channels } = board;
  const words = pageWords[language];
  const other = language === 'en' ? 'zh' : 'en';
  const [open, past] = [
    board.incidents.filter(({ closedAtMs }) => closedAtMs === null),
    board.incidents.filter(({ closedAtMs }) => closedAtMs !== null),
  ];
  const page = markup`<!doctype html>
<html lang="${words.tag}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="description" content="${deployment.name}: ${words.headlines[overall]}">
<title>${deployment.name} · ${words.title}</title>
<link rel="stylesheet" href="${stylesheet}">
<link rel="icon" type="image/svg+xml" href="/status/icon.svg">
<link rel="alternate" type="application/atom+xml" title="${deployment.name}" href="/status/feed.xml">
<link rel="alternate" type="application/json" href="/status.json">
<link rel="alternate" hreflang="${pageWords[other].tag}" href="/status/${other}">
</head>
<body>
<header class="top"><p class="name"><a href="/status">${deployment.name}</a> <span>${words.title}</span></p>
<nav><a href="/status/${other}" hreflang="${pageWords[other].tag}" lang="${pageWords[other].tag}">${pageWords[other].ownName}</a></nav></header>
<main>
<section class="overall ${overall}">${glyph(overall)}<div><h1>${words.headlines[overall]}</h1>
<p>${words.asOf('')}<time datetime="${isoTime(nowMs)}">${timeText(nowMs, language)}</time></p></div></section>
${deployment.isSimulated ? markup`<p class="simulated">${words.simulated}</p>` : null}
${incidentList(open, words.sections.now, language, nowMs)}
${workList(board.works, language)}
${rowList(models, words.sections.models, language)}
${models.length === 0 ? markup`<section><h2>${words.sections.models}</h2><p class="quiet">${words.noModels}</p></section>` : null}
${rowList(channels, words.sections.channels, language)}
${silentList(board, language)}
${gatewayFacts(board, language)}
${past.length === 0 && open.length === 0 ? markup`<section><h2>${words.sections.past}</h2><p class="quiet">${words.noIncidents}</p></section>` : incidentList(past, words.sections.past, language, nowMs)}
<section><h2>${words.sections.measured}</h2><ul class="how">${words.how.map((text) => markup`<li>${text}</li>`)}</ul></section>
${siblingList(board, language)}
</main>
<footer><p>${words.utc}</p><p><a href="/status.json">${words.json}</a> <a href="/status/feed.xml">${words.feed}</a></p></footer>
</body>
</html>
`;
  return page.text;
}

function rowList(rows: readonly BoardRow[], title: string, language: PageLanguage): Markup | null {
  if (rows.length === 0) return null;
  const whole = rows.slice(0, rowsMax).map((row, at) => rowOf(row, language, at < chartsMax));
  const rest = rows
    .slice(rowsMax)
    .map(
      (row) =>
        markup`<li>${glyph(row.state)} ${row.label} <span>${pageWords[language].states[row.state]}</span></li>`,
    );
  return markup`<section><h2>${title}</h2>${whole}${rest.length === 0 ? null : markup`<ul class="rest">${rest}</ul>`}</section>`;
}

function rowOf(row: BoardRow, language: PageLanguage, hasChart: boolean): Markup {
  const words = pageWords[language];
  return markup`<article><header><h3>${row.label}</h3><p class="state">${glyph(row.state)}<span>${words.states[row.state]}</span></p></header>
${barsOf(row, language)}
<p class="axis"><span>${words.daysAgo}</span><span>${words.succeeded(percent(row.quarter.share, words))}</span><span>${words.today}</span></p>
${hasChart ? chartOf(row, language) : null}${hasChart ? daysInWords(row, language) : null}</article>
`;
}

function chartOf(row: BoardRow, language: PageLanguage): Markup | null {
  const words = pageWords[language];
  if (row.day.share === null) return null;
  const top = chartTop(row);
  const [p50, p95, failed] = words.legend;
  return markup`<details><summary>${words.lastDay}<span>${qualityText(row.day, language)}</span></summary>
<div class="plot">${top === null ? null : markup`<span class="top">${milliseconds(top, words)}</span>`}${dayChart(row, language)}</div>
<p class="axis"><span>${words.hoursAgo}</span><span>${words.now}</span></p>
<p class="legend"><span><i class="p50"></i>${p50}</span> <span><i class="p95"></i>${p95}</span> <span><i class="failed"></i>${failed}</span></p></details>`;
}

function qualityText({ share, p50Ms, p95Ms, isProbed }: Quality, language: PageLanguage): string {
  const words = pageWords[language];
  return [
    words.succeeded(percent(share, words)),
    ...(p50Ms === null ? [] : [words.firstContent(milliseconds(p50Ms, words), milliseconds(p95Ms, words))]),
    ...(isProbed ? [words.byProbes] : []),
  ].join(' · ');
}

function silentList({ silent }: Board, language: PageLanguage): Markup | null {
  if (silent.length === 0) return null;
  const items = silent.map((label) => markup`<li>${glyph('unknown')} ${label}</li>`);
  return markup`<section><details><summary>${pageWords[language].sections.silent} (${silent.length})</summary><ul class="rest">${items}</ul></details></section>`;
}

function gatewayFacts({ overhead, all }: Board, language: PageLanguage): Markup | null {
  const words = pageWords[language];
  if (overhead === null && all.share === null) return null;
  const own =
    overhead === null
      ? null
      : markup`<div><dt>${words.overhead}</dt><dd>${words.overheadIs(milliseconds(overhead.p50Us / 1000, words), milliseconds(overhead.p99Us / 1000, words))}</dd></div>`;
  return markup`<section><h2>${words.sections.gateway}</h2><dl>${own}<div><dt>${words.allCalls}</dt><dd>${words.succeeded(percent(all.share, words))}</dd></div></dl></section>`;
}

function incidentList(
  incidents: readonly BoardIncident[],
  title: string,
  language: PageLanguage,
  nowMs: number,
): Markup | null {
  if (incidents.length === 0) return null;
  return markup`<section><h2>${title}</h2>${incidents.map((incident) => incidentOf(incident, language, nowMs))}</section>`;
}

function incidentOf(incident: BoardIncident, language: PageLanguage, nowMs: number): Markup {
  const entries = incident.entries
    .filter(({ kind }) => kind !== 'closed')
    .toReversed()
    .map(
      (entry) =>
        markup`<li><time datetime="${isoTime(entry.atMs)}">${timeText(entry.atMs, language)}</time> ${entryText(entry, language)}</li>`,
    );
  return markup`<article class="incident" id="incident-${incident.number}"><header><h3>${glyph(incident.worst)} ${incidentTitle(incident, language)}</h3><p class="state">${lastingText(incident, language, nowMs)}</p></header><ol>${entries}</ol></article>`;
}

function workList(works: readonly BoardWork[], language: PageLanguage): Markup | null {
  if (works.length === 0) return null;
  const words = pageWords[language];
  const items = works.map(
    ({ id, title, fromMs, toMs, phase, labels }) =>
      markup`<article class="incident" id="maintenance-${id}"><header><h3>${glyph('maintenance')} ${wordsIn(title, language)}</h3><p class="state">${words.phases[phase]}</p></header><p><time datetime="${isoTime(fromMs)}">${timeText(fromMs, language)}</time> – <time datetime="${isoTime(toMs)}">${timeText(toMs, language)}</time> · ${labels === null ? words.everything : labels.join(', ')}</p></article>`,
  );
  return markup`<section><h2>${words.sections.work}</h2>${items}</section>`;
}

function siblingList({ deployment }: Board, language: PageLanguage): Markup | null {
  if (deployment.siblings.length === 0) return null;
  const items = deployment.siblings.map(({ name, consoleOrigin, region, language: tongue }) => {
    const note = region === null ? null : markup` <span>${region}</span>`;
    const link =
      tongue === null
        ? markup`<a href="${consoleOrigin}/status">${name}</a>`
        : markup`<a href="${consoleOrigin}/status" lang="${tongue}" hreflang="${tongue}">${name}</a>`;
    return markup`<li>${link}${note}</li>`;
  });
  return markup`<section><h2>${pageWords[language].sections.siblings}</h2><ul class="siblings">${items}</ul></section>`;
}
