/** All that changes are of, by the first word of their actions. */
export const auditKinds = [
  ...([
    'account',
    'channel',
    'configuration',
    'credential',
    'event',
    'gateway',
    'group',
    'incident',
  ] as const),
  ...(['invitation', 'key', 'maintenance', 'person', 'price', 'session', 'setting', 'webhook'] as const),
] as const;
