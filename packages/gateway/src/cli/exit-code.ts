/** What the process says to the shell that started it; documented in the help of `headgate`. */
export const exitCodes = {
  ok: { code: 0, meaning: 'done' },
  failed: {
    code: 1,
    meaning: 'the command ran and what it checks is not in order, or what it was to do failed',
  },
  usage: { code: 2, meaning: 'the command was not written correctly' },
  configuration: { code: 3, meaning: 'settings or configuration are not valid' },
  unavailable: { code: 4, meaning: 'the store, a port or a file cannot be used' },
} as const;

export type ExitReason = keyof typeof exitCodes;
