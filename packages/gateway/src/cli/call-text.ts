import { chargeTerms } from '../admin/call-words.ts';
import { formatDecimal, formatNanoUsd } from '../money/money.ts';
import type { PriceTerm } from '../money/price-formula.ts';
import type { StoredPrice } from '../ports/configuration-store.ts';
import type { AttemptEntry } from '../ports/ledger.ts';
import type { LedgerRecord } from '../ports/store.ts';
import { decodeRoute } from '../route/explain.ts';
import { cut, right, statusText, tableText } from './table.ts';
import { usd } from './usd.ts';

type Prices = readonly StoredPrice[];

/** A call for programs: all that the ledger has of it, and where its charge comes from, as far as prices are at hand. */
export function callView(call: LedgerRecord, prices: Prices | null): object {
  const terms = prices === null ? null : chargeTerms(call, prices);
  return {
    ...call,
    route: decodeRoute(call.route),
    chargeUsd: formatNanoUsd(call.chargeNanoUsd),
    ...(terms === null ? {} : { chargeTerms: terms }),
  };
}

/** A call for people, 80 columns wide. */
export function callText(call: LedgerRecord, prices: Prices, color: boolean): string {
  const { losses, attempts } = call;
  return [
    headText(call, color),
    attempts.length === 0 ? 'No channel was asked.' : attemptsText(attempts, color),
    ...[chargeText(call, prices, color)],
    ...(losses.length === 0 ? [] : [`Lost in translation: ${losses.join(', ')}`]),
    `Routing: headgate route explain --trace ${call.traceId}`,
  ].join('\n\n');
}

function headText(call: LedgerRecord, color: boolean): string {
  const { status, unbilledReason, httpStatus, errorCode, finishReason, finishReasonRaw } = call;
  const billed =
    status === 'open' ? 'under way' : unbilledReason === null ? 'billed' : `not billed: ${unbilledReason}`;
  const isGood = status === 'complete' && unbilledReason === null;
  const words = statusText(
    `${status}, ${billed}`,
    isGood ? 'good' : status === 'open' ? 'idle' : 'bad',
    color,
  );
  const finish =
    finishReason === null
      ? null
      : `finish ${finishReason}${finishReasonRaw === finishReason ? '' : ` (${finishReasonRaw})`}`;
  const told = [httpStatus === null ? 'no answer' : `HTTP ${httpStatus}`, errorCode, finish].filter(
    (each) => each !== null,
  );
  const served =
    call.modelServed === null || call.modelServed === call.modelRequested
      ? ''
      : `, served by ${call.modelServed}`;
  return [
    `${call.traceId}  ${words}`,
    '',
    `${call.modelRequested}${served}`.replaceAll(/\s+/g, ' '),
    `key ${call.keyId}, group ${call.groupId}, account ${call.accountId}`,
    `${call.surface}, ${call.stream ? 'streamed' : 'whole'}; ${told.join(', ')}`,
    timesText(call),
    ...(call.clientRequestId === null ? [] : [`client request id ${call.clientRequestId}`]),
    ...(call.tag === null ? [] : [`tagged ${call.tag}`]),
    ...(call.userAgent === null ? [] : [`by ${cut(call.userAgent, 70)}`]),
  ].join('\n');
}

function timesText({ startedAtMs, durationMs, ttftMs, overheadUs }: LedgerRecord): string {
  const began = new Date(startedAtMs).toISOString().slice(0, 23).replace('T', ' ');
  const first = ttftMs === null ? 'no content' : `first content after ${msText(ttftMs)}`;
  return `${began} UTC\ntook ${msText(durationMs)}, ${first}, ${overheadUs.toLocaleString('en')} µs of it ours`;
}

function msText(milliseconds: number): string {
  return milliseconds < 10_000
    ? `${Math.round(milliseconds).toLocaleString('en')} ms`
    : `${(milliseconds / 1000).toFixed(1)} s`;
}

function attemptsText(attempts: readonly AttemptEntry[], color: boolean): string {
  const rows = attempts.map((attempt) => [
    String(attempt.n),
    cut(attempt.channelId, 20),
    attempt.result,
    attempt.httpStatus === null ? '–' : String(attempt.httpStatus),
    attempt.ttftMs === null ? '–' : msText(attempt.ttftMs),
    msText(attempt.durationMs),
    attempt.costNanoUsd === null ? 'unknown' : usd(attempt.costNanoUsd, 6),
  ]);
  const columns = [right('n'), 'channel', 'result', ...['http', 'first', 'time', 'cost $'].map(right)];
  const notes = attempts.flatMap(({ n, detail, lane, edits }) => {
    const changed = [
      ...(lane === 'translate' ? ['translated'] : []),
      ...edits.map((edit) => `edited ${edit}`),
    ];
    const said = [detail, ...changed].filter((each) => each !== null);
    return said.length === 0 ? [] : [`${n}: ${said.join('; ')}`];
  });
  return [tableText(columns, rows, color, '  '), ...notes].join('\n');
}

/** The products, their sum and what became of it: the charge as it can be worked out by hand. */
function chargeText(call: LedgerRecord, prices: Prices, color: boolean): string {
  const { usageSource, multiplierPpm, chargeNanoUsd, unbilledReason, priceVersion } = call;
  const terms = chargeTerms(call, prices);
  if (terms === null) return `${usageText(call)}\nIt has no price: ${priceVersion ?? 'none was in force'}.`;
  if (terms.length === 0)
    return `Nothing that is paid for was used. Charge: $${formatNanoUsd(chargeNanoUsd)}`;
  const rows = terms.map((term) => [
    termWords[term.what] ?? term.what,
    term.units.toLocaleString('en'),
    priceText(term),
    term.factorPpm === plain ? '' : `× ${formatDecimal(term.factorPpm, 6)}`,
    formatDecimal(term.units * term.price * term.factorPpm, 18),
  ]);
  const columns = [`usage (${usageSource})`, right('units'), right('$ each'), '', right('$')];
  const sum = terms.reduce((total, { units, price, factorPpm }) => total + units * price * factorPpm, 0n);
  const factor = multiplierPpm === plain ? '' : ` × ${formatDecimal(multiplierPpm, 6)} multiplier`;
  const formula = `$${formatDecimal(sum, 18)}${factor} = $${formatDecimal(sum * multiplierPpm, 24)}`;
  const charged =
    unbilledReason === null ? `charged $${formatNanoUsd(chargeNanoUsd)}` : `not charged: ${unbilledReason}`;
  return [
    tableText(columns, withEvenAmounts(rows), color, '  '),
    '',
    `${factor === '' ? `$${formatDecimal(sum, 18)}` : formula}, ${charged}`,
    `price ${priceVersion}${contextText(terms)}`,
  ].join('\n');
}

const plain = 1_000_000n;

/** The last cells are amounts: their points stand under each other. */
function withEvenAmounts(rows: readonly (readonly string[])[]): readonly (readonly string[])[] {
  const fractionOf = (amount: string) => amount.split('.')[1] ?? '';
  const digits = Math.max(...rows.map((row) => fractionOf(row.at(-1) ?? '').length));
  if (digits === 0) return rows;
  return rows.map((row) => {
    const [whole = ''] = (row.at(-1) ?? '').split('.');
    return [...row.slice(0, -1), `${whole}.${fractionOf(row.at(-1) ?? '').padEnd(digits, '0')}`];
  });
}

function contextText(terms: readonly PriceTerm[]): string {
  const above = Math.max(0, ...terms.map(({ aboveInputTokens }) => aboveInputTokens));
  return above === 0 ? '' : `, for more than ${above.toLocaleString('en')} tokens of input`;
}

function usageText({ usage }: LedgerRecord): string {
  const used = Object.entries(usage).filter(([, units]) => units !== 0);
  const words = used.map(
    ([part, units]) => `${Number(units).toLocaleString('en')} ${termWords[part] ?? part}`,
  );
  return `Used: ${words.join(', ') || 'nothing'}`;
}

/** A million tokens, or one of what is counted in pieces. */
function priceText({ what, price }: PriceTerm): string {
  return pieces.has(what) ? formatDecimal(price, 12) : `${formatDecimal(price, 6)} / M`;
}

const pieces: ReadonlySet<string> = new Set([
  'call',
  'images',
  'webSearches',
  'fileSearches',
  'codeSessions',
  'groundings',
  'pages',
]);

const termWords: Readonly<Record<string, string>> = {
  inputFresh: 'input',
  inputCacheRead: 'cache read',
  inputCacheWrite5m: 'cache write, 5 min',
  inputCacheWrite1h: 'cache write, 1 h',
  inputCacheReadAudio: 'cached audio',
  inputAudio: 'audio input',
  inputImage: 'image input',
  output: 'output',
  outputReasoning: 'reasoning',
  outputAudio: 'audio output',
  outputImage: 'image output',
  citation: 'citations',
  images: 'images',
  webSearches: 'web searches',
  fileSearches: 'file searches',
  codeSessions: 'code sessions',
  groundings: 'grounding',
  pages: 'pages',
  call: 'call',
};
