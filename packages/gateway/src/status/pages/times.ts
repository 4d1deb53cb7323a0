import type { PageLanguage } from './words.ts';

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** A day in UTC, as people write it. */
export function dayText(ms: number, language: PageLanguage): string {
  const iso = isoTime(ms);
  const [year, month, day] = [iso.slice(0, 4), Number(iso.slice(5, 7)), Number(iso.slice(8, 10))];
  return language === 'zh' ? `${year}年${month}月${day}日` : `${day} ${months[month - 1] ?? ''} ${year}`;
}

export function timeText(ms: number, language: PageLanguage): string {
  return `${dayText(ms, language)}${language === 'zh' ? ' ' : ', '}${clockText(ms)} UTC`;
}

/** Hours and minutes. */
export function clockText(ms: number): string {
  return isoTime(ms).slice(11, 16);
}

export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}
