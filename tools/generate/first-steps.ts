// Writes store/sqlite/first-steps.sql: the schema as the first steps leave it, as one.
import { writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { firstStepsCount } from '../../packages/gateway/src/store/sqlite/first-steps.ts';
import { stepByStep } from '../../packages/gateway/src/store/sqlite/migrations.ts';

const database = new DatabaseSync(':memory:');
stepByStep(database, firstStepsCount);
const made = database
  .prepare("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY rowid")
  .all();
const meta = database.prepare('SELECT name, value FROM meta ORDER BY name').all();
const statements = [
  ...made.map(({ sql }) => String(sql)),
  ...meta.map(({ name, value }) => `INSERT INTO meta (name, value) VALUES ('${name}', ${value})`),
];
const file = new URL('../../packages/gateway/src/store/sqlite/first-steps.sql', import.meta.url);
writeFileSync(file, statements.map((sql) => `${sql};\n`).join(''));
