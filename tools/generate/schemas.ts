/**
 * Writes what is generated from code and read by people and editors: the JSON Schemas in `catalogue/` and the tables of
 * `docs/configuration.md`. `node tools/generate/schemas.ts`, then `npm run format`; a test keeps them equal to the code.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import {
  configurationJsonSchema,
  providerJsonSchema,
  withSettingsTables,
} from '../../packages/gateway/src/config/published-files.ts';

const root = new URL('../../', import.meta.url);
const page = new URL('docs/configuration.md', root);

writeFileSync(
  new URL('catalogue/config.schema.json', root),
  JSON.stringify(configurationJsonSchema(), null, 2),
);
writeFileSync(new URL('catalogue/provider.schema.json', root), JSON.stringify(providerJsonSchema(), null, 2));
writeFileSync(page, withSettingsTables(readFileSync(page, 'utf8')));
