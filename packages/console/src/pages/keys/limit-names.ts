/** The members of budgets and of rates, in the order in which they are shown. */
export const budgetNames = ['day', 'month', 'total'] as const;
export const rateNames = [
  'requestsPerMinute',
  'tokensPerMinute',
  'requestsPerDay',
  'imagesPerMinute',
  'concurrency',
] as const;
