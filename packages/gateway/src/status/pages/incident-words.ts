import type { BoardEntry, BoardIncident } from '../board.ts';
import { milliseconds, type PageLanguage, pageWords, percent, wordsIn } from './words.ts';

export function incidentTitle({ worst, labels }: BoardIncident, language: PageLanguage): string {
  const words = pageWords[language];
  const [first = '', ...others] = labels;
  return words.incidentTitle(
    words.states[worst],
    others.length === 0 ? first : words.andOthers(first, others.length),
  );
}

/** How long it lasted, or lasts already. */
export function lastingText(
  { openedAtMs, closedAtMs }: BoardIncident,
  language: PageLanguage,
  nowMs: number,
): string {
  const words = pageWords[language];
  const time = words.duration(Math.max(0, Math.round(((closedAtMs ?? nowMs) - openedAtMs) / 60_000)));
  return closedAtMs === null ? words.since(time) : words.resolved(time);
}

/** An entry in plain words; none where there is nothing to say. */
export function entryText(entry: BoardEntry, language: PageLanguage): string {
  const { kind, label, state, facts } = entry;
  const words = pageWords[language];
  if (entry.words !== null) return `${words.operator}: ${wordsIn(entry.words, language)}`;
  if (label === null) return '';
  if (kind === 'recovered') return state === null ? words.gone(label) : words.recovered(label);
  if (state === null) return '';
  const share = facts === null || facts.total === 0 ? null : facts.good / facts.total;
  const isSlow =
    facts?.p95Ms !== undefined && facts.usualP95Ms !== undefined && facts.p95Ms > 2 * facts.usualP95Ms;
  const said = words.said(label, state, facts, percent(share, words));
  return isSlow
    ? said +
        words.slow(milliseconds(facts.p95Ms ?? null, words), milliseconds(facts.usualP95Ms ?? null, words))
    : said;
}
