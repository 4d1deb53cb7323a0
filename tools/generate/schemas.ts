/**
 * Writes what is generated from code and read by people and editors: the JSON Schemas in `catalogue/` and the tables of
 * `docs/configuration.md`. `node tools/generate/schemas.ts`, then `npm run format`; a test keeps them equal to the code.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { parse } from 'yaml';
import {
  configurationJsonSchema,
  providerJsonSchema,
  withSettingsTables,
} from '../../packages/gateway/src/config/published-files.ts';
import { withMemberTables } from './config-members.ts';

const root = new URL('../../', import.meta.url);
const page = new URL('docs/configuration.md', root);

writeFileSync(
  new URL('catalogue/config.schema.json', root),
  JSON.stringify(configurationJsonSchema(), null, 2),
);
writeFileSync(new URL('catalogue/provider.schema.json', root), JSON.stringify(providerJsonSchema(), null, 2));
const example: unknown = parse(readFileSync(new URL('docs/headgate.example.yaml', root), 'utf8'), {
  merge: true,
});
const settled = withSettingsTables(readFileSync(page, 'utf8'));
writeFileSync(page, withMemberTables(settled, configurationJsonSchema(), example));
