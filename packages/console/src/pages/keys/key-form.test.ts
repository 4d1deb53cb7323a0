import { expect, test } from 'vitest';
import { draftOf, emptyKey, modelLimitsOf, patchOf } from './key-form.ts';

const typed = {
  ...emptyKey,
  ...{ name: ' CI ', account: 'a', group: 'g', 'budgets.month': '40', 'budgets.alertAt': '0.5' },
  ...{ 'limits.requestsPerMinute': '60', 'limits.concurrency': 'two' },
  'limits.models': modelLimitsOf({ models: { fast: { concurrency: 2 } } }),
};

test('a key is made of what is typed alone; what is no number is for the API to name', () => {
  expect(draftOf(emptyKey)).toEqual({});
  expect(draftOf(typed)).toEqual({
    ...{ name: 'CI', account: 'a', group: 'g', budgets: { month: '40', alertAt: '0.5' } },
    limits: {
      ...{ requestsPerMinute: 60, concurrency: 'two' },
      models: {
        fast: {
          ...{ requestsPerMinute: null, tokensPerMinute: null, requestsPerDay: null, imagesPerMinute: null },
          concurrency: 2,
        },
      },
    },
  });
});

test('a change takes away what was taken out, also the limits of a model and the alert of no budget', () => {
  const rows = typed['limits.models'].map((row) => ({
    ...row,
    rates: { ...row.rates, concurrency: '' },
    isGone: true,
  }));
  expect(patchOf({ ...typed, 'budgets.month': '', 'limits.models': rows })).toMatchObject({
    budgets: { day: null, month: null, total: null, alertAt: null },
    limits: { tokensPerMinute: null, models: { fast: { concurrency: null } } },
  });
});
