import type { KeyItem } from '@headgate/gateway/console';
import { useTexts } from '../../app/texts.ts';
import { StateDot, type Tone } from '../../ui/badge.tsx';
import * as texts from './texts.ts';

const tones = {
  active: 'good',
  retiring: 'warn',
  disabled: 'neutral',
  expired: 'bad',
  replaced: 'neutral',
  revoked: 'bad',
} as const satisfies Readonly<Record<KeyItem['state'], Tone>>;

export const keyStates = Object.keys(tones) as readonly KeyItem['state'][];

/** The standing of a key now. */
export function KeyStateDot({ state }: { readonly state: KeyItem['state'] }) {
  const t = useTexts(texts);
  return <StateDot state={tones[state]} label={t(`state.${state}`)} />;
}

/** The budget that is nearest to its end; null of a key without any. */
export function tightestOf(budgets: KeyItem['budgets']): KeyItem['budgets'][number] | null {
  const share = ({ amount, spent }: KeyItem['budgets'][number]) =>
    Number(amount) === 0 ? Number.POSITIVE_INFINITY : Number(spent) / Number(amount);
  return budgets.reduce<KeyItem['budgets'][number] | null>(
    (most, each) => (most === null || share(each) > share(most) ? each : most),
    null,
  );
}
