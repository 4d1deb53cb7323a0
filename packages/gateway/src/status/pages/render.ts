import type { StatusHistory, StatusView } from '../../ports/status.ts';
import { type Board, boardOf } from '../board.ts';
import { statusBadge, statusFeed, statusJson } from './documents.ts';
import { glyph } from './glyphs.ts';
import { statusPage } from './page.ts';
import { stylesheet } from './stylesheet.ts';

/** A file of the page before it is sent: a path and a text. */
export interface RenderedFile {
  readonly path: string;
  readonly type: string;
  readonly text: string;
}

const html = 'text/html; charset=utf-8';
const svg = 'image/svg+xml; charset=utf-8';

/** Every file of the status page. `digestOf` names a text that never changes by what is in it. */
export function renderStatus(
  view: StatusView,
  history: StatusHistory,
  digestOf: (text: string) => string,
): readonly RenderedFile[] {
  const board = boardOf(view, history);
  const sheet = `/status/style-${digestOf(stylesheet)}.css`;
  return [
    { path: '/status/en', type: html, text: statusPage(board, 'en', sheet) },
    { path: '/status/zh', type: html, text: statusPage(board, 'zh', sheet) },
    { path: '/status.json', type: 'application/json; charset=utf-8', text: statusJson(board) },
    { path: '/status/feed.xml', type: 'application/atom+xml; charset=utf-8', text: statusFeed(board) },
    { path: sheet, type: 'text/css; charset=utf-8', text: stylesheet },
    { path: '/status/icon.svg', type: svg, text: icon(board) },
    ...badges(board),
  ];
}

function badges(board: Board): readonly RenderedFile[] {
  const rows = board.models.map(({ name, state }) => ({ name, state }));
  const silent = board.silent.map((name) => ({ name, state: 'unknown' as const }));
  return [...rows, ...silent].map(({ name, state }) => ({
    path: `/status/badge/${name}.svg`,
    type: svg,
    text: statusBadge(name, state),
  }));
}

/** The state as the picture of its tab. */
function icon({ overall }: Board): string {
  const colours = {
    operational: '#1f9d55',
    degraded: '#c58a00',
    partial: '#d9620f',
    outage: '#d0312d',
    unknown: '#7d8794',
    maintenance: '#2f6fde',
  };
  return glyph(overall).text.replace(
    '<svg ',
    `<svg xmlns="http://www.w3.org/2000/svg" fill="none" stroke-width="2" stroke-linecap="round" stroke-linejoin="round" stroke="${colours[overall]}" `,
  );
}
