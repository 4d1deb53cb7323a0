/**
 * Goes behind the first row of a recursive `line (subject)`: a key shares its budgets with all that came before it and after it by
 * rotation, so that nobody has them begin anew.
 */
export const lineageOfKeys = `
  UNION SELECT 'key:' || keys.id FROM line JOIN keys ON keys.replaced_by = substr(line.subject, 5)
    WHERE line.subject LIKE 'key:%'
  UNION SELECT 'key:' || keys.replaced_by FROM line JOIN keys ON keys.id = substr(line.subject, 5)
    WHERE line.subject LIKE 'key:%' AND keys.replaced_by IS NOT NULL`;

/** The store looks for predecessors whenever a budget of a key is asked for. */
export const keysBySuccessor =
  'CREATE INDEX keys_by_successor ON keys (replaced_by) WHERE replaced_by IS NOT NULL;';
