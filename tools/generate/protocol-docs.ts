/**
 * Writes `docs/protocols/` from what the codecs do with all that callers may send. `node tools/generate/protocol-docs.ts`;
 * a test keeps them equal.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { withOverviewTables } from './protocol-docs/overview.ts';
import { sheets } from './protocol-docs/sheets.ts';
import { surfacePage } from './protocol-docs/surface-page.ts';

const folder = new URL('../../docs/protocols/', import.meta.url);

/** A page as it should be, beside its name. */
export interface ProtocolPage {
  readonly name: string;
  readonly markdown: string;
}

/** All pages; `overview` is the present one, of which only the tables are made. */
export function protocolPages(overview: string): readonly ProtocolPage[] {
  return [
    { name: 'README.md', markdown: withOverviewTables(overview) },
    ...sheets.map((sheet) => ({ name: `${sheet.surface}.md`, markdown: surfacePage(sheet) })),
  ];
}

if (import.meta.main) {
  for (const { name, markdown } of protocolPages(readFileSync(new URL('README.md', folder), 'utf8')))
    writeFileSync(new URL(name, folder), markdown);
}
