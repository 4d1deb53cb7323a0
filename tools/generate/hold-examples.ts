import type { Asking } from '../../packages/gateway/src/call/hold/demand.ts';
import { expectedUsage, takenBy } from '../../packages/gateway/src/call/hold/demand.ts';
import { formatDecimal } from '../../packages/gateway/src/money/money.ts';
import type { PriceVersion } from '../../packages/gateway/src/money/price.ts';
import { priceUsage } from '../../packages/gateway/src/money/price.ts';
import { readPriceTiers } from '../../packages/gateway/src/money/price-terms.ts';
import { type Facts, noTerms, noUsage, totalInput, type Usage } from '../../packages/protocols/src/index.ts';

/** A call as its caller makes it, and what it used in the end. */
interface HeldCall {
  readonly what: string;
  readonly facts: Partial<Facts>;
  readonly work?: Asking['work'];
  readonly usualMax?: number;
  readonly used: Partial<Usage>;
}

const calls: readonly HeldCall[] = [
  {
    what: 'a stream, and nobody has said how long; no answers known',
    facts: { stream: true },
    used: { inputFresh: 1_950, output: 640 },
  },
  {
    what: 'the same, where one of a hundred answers is longer than 700 tokens',
    facts: { stream: true },
    usualMax: 700,
    used: { inputFresh: 1_950, output: 640 },
  },
  {
    what: 'the same, with `max_tokens: 300`',
    facts: { stream: true, maxOutputTokens: 300 },
    usualMax: 700,
    used: { inputFresh: 1_950, output: 300 },
  },
  {
    what: 'a JSON answer with `max_tokens: 8000`; no answers known',
    facts: { maxOutputTokens: 8_000 },
    used: { inputFresh: 1_950, output: 640 },
  },
  {
    what: 'vectors of a text',
    facts: {},
    work: 'embed',
    used: { inputFresh: 1_950 },
  },
];

function examplePrice(): PriceVersion {
  const read = readPriceTiers([{ aboveInputTokens: 0, prices: { input: '0.25', output: '2' } }]);
  if (!read.ok) throw new Error(read.error.reason);
  return { id: 'example', effectiveFromMs: 0, tiers: read.value };
}

/** The rows of holds in `docs/billing.md`: what is held, and what goes back. */
export function holdExamples(): readonly (readonly string[])[] {
  const price = examplePrice();
  const plain = { model: 'm', stream: false, maxOutputTokens: null, inputTokensEstimate: 2_000, choices: 1 };
  return calls.map(({ what, facts, work = 'answer', usualMax = null, used }) => {
    const request = { facts: { ...plain, needs: new Set<never>(), ...facts } };
    const expected = expectedUsage({ request, work, usualMax, model: { maxOutputTokens: null, price } });
    const { chargeNanoUsd } = takenBy(expected, price, 1_000_000n, noTerms);
    const charge = priceUsage({ ...noUsage, ...used }, price, 1_000_000n);
    return [
      what,
      `${count(totalInput(expected))} input, ${count(expected.output)} output`,
      formatDecimal(chargeNanoUsd, 9),
      formatDecimal(charge, 9),
      formatDecimal(chargeNanoUsd - charge, 9),
    ];
  });
}

function count(tokens: number): string {
  return tokens.toLocaleString('en');
}
