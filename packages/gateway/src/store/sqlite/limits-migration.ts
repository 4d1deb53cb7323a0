/** The money and the rates that accounts, groups and keys may take, and whose clocks their days go by. */
export const limitsOfOwners = `
ALTER TABLE accounts ADD COLUMN prepaid INTEGER NOT NULL DEFAULT 0;
ALTER TABLE accounts ADD COLUMN time_zone TEXT NOT NULL DEFAULT 'UTC';
ALTER TABLE groups ADD COLUMN time_zone TEXT NOT NULL DEFAULT 'UTC';
${['accounts', 'groups', 'keys']
  .map(
    (table) => `ALTER TABLE ${table} ADD COLUMN budgets TEXT;\nALTER TABLE ${table} ADD COLUMN limits TEXT;`,
  )
  .join('\n')}
${['groups', 'keys']
  .flatMap((table) =>
    ['day', 'month', 'total'].map((span) => `ALTER TABLE ${table} DROP COLUMN budget_${span}_nano_usd;`),
  )
  .join('\n')}
`;
