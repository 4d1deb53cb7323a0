import { Choice } from '../app/choice.ts';
import type { Language } from '../app/language.ts';
import { compactText, countText } from './numbers.ts';
import { remembered } from './remembered.ts';

/** A currency that amounts are shown in, and how many units of it one dollar is, as a decimal text. */
export interface Currency {
  readonly code: string;
  readonly perUsd: string;
}

const dollars: Currency = { code: 'USD', perUsd: '1' };

/** The currency of the deployment: amounts are kept and billed in dollars, and only shown in it. */
export const shownCurrency = new Choice<Currency>(dollars);

export function showCurrency({ code, perUsd }: Currency): void {
  const current = shownCurrency.get();
  if (current.code !== code || current.perUsd !== perUsd) shownCurrency.set({ code, perUsd });
}

interface Decimal {
  readonly units: bigint;
  readonly scale: number;
}

/**
 * An amount of dollars, given as a decimal text, in a currency, with the precision that it deserves: the currency's own decimals, at least
 * three significant digits, and never a digit that was not there. It is multiplied and rounded as integers, and never made a float.
 */
export function moneyText(usd: string, currency: Currency, language: Language): string {
  const amount = decimalOf(usd);
  const rate = decimalOf(currency.perUsd);
  const { digits, symbol } = formOf(currency.code, language);
  const product = { units: amount.units * rate.units, scale: amount.scale + rate.scale };
  return written(rounded(product, digits), digits, symbol);
}

/** An amount of dollars with every digit that it has. */
export function usdText(usd: string): string {
  return written(decimalOf(usd), 2, '$');
}

/** An amount that is a float already, as axes have them, short. */
export function shortMoneyText(usd: number, { code, perUsd }: Currency, language: Language): string {
  const value = usd * Number(perUsd);
  return formOf(code, language).symbol + compactText(value, language);
}

function decimalOf(text: string): Decimal {
  const [, sign = '', whole = '0', part = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text) ?? [];
  const units = BigInt(whole + part);
  return { units: sign === '-' ? -units : units, scale: part.length };
}

const significantMin = 3;

/** Rounds half away from zero. */
function rounded({ units, scale }: Decimal, digits: number): Decimal {
  const length = String(units < 0n ? -units : units).length;
  // The digits after the point at which the third significant one stands.
  const kept = Math.min(scale, Math.max(digits, units === 0n ? 0 : significantMin - (length - scale)));
  const unit = 10n ** BigInt(scale - kept);
  const half = units < 0n ? -unit / 2n : unit / 2n;
  return { units: (units + half) / unit, scale: kept };
}

/** Zeros at the end are left out, as far as the currency does not have its own decimals there. */
function written({ units, scale }: Decimal, digits: number, symbol: string): string {
  const text = String(units < 0n ? -units : units).padStart(scale + 1, '0');
  const whole = text.slice(0, text.length - scale);
  const part = text.slice(text.length - scale).replace(/0+$/, '');
  const shown = part.padEnd(digits, '0');
  return `${units < 0n ? '−' : ''}${symbol}${countText(whole)}${shown === '' ? '' : `.${shown}`}`;
}

function formOf(code: string, language: Language) {
  return formIn(`${language} ${code}`);
}

/** The decimals that a currency has, and its sign: the short one where that is nobody else's beside the dollar. */
const formIn = remembered((name: string) => {
  const [language = 'en', code = 'USD'] = name.split(' ');
  if (code === 'USD') return { digits: 2, symbol: '$' };
  const style = { style: 'currency', currency: code } as const;
  const format = new Intl.NumberFormat(language, style);
  const signOf = (currencyDisplay: 'narrowSymbol' | 'symbol') =>
    new Intl.NumberFormat(language, { ...style, currencyDisplay })
      .formatToParts(0)
      .find(({ type }) => type === 'currency')?.value ?? code;
  const narrow = signOf('narrowSymbol');
  const sign = narrow === '$' ? signOf('symbol') : narrow;
  // A name of letters needs room before the number.
  const symbol = /\p{L}$/u.test(sign) ? `${sign}\u00a0` : sign;
  return { digits: format.resolvedOptions().maximumFractionDigits ?? 2, symbol };
});
