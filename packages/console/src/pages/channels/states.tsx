import type { ChannelItem, ChannelView } from '@headgate/gateway/console';
import { useTexts } from '../../app/texts.ts';
import { StateDot, type Tone } from '../../ui/badge.tsx';
import * as texts from './texts.ts';

const tones = {
  up: 'good',
  degraded: 'warn',
  draining: 'accent',
  down: 'bad',
  off: 'neutral',
} as const satisfies Record<ChannelItem['state'], Tone>;

/** The state of a channel, in colour and in a word. */
export function ChannelState({ state }: { readonly state: ChannelItem['state'] }) {
  const t = useTexts(texts);
  return <StateDot state={tones[state]} label={t(`state.${state}`)} />;
}

type TargetState = ChannelView['targets'][number]['state'];

const targetTones = {
  serving: 'good',
  limited: 'warn',
  refused: 'bad',
  missing: 'bad',
  ejected: 'bad',
  trial: 'warn',
} as const satisfies Record<TargetState, Tone>;

/** The circuit of one model of a channel. */
export function TargetStateDot({ state }: { readonly state: TargetState }) {
  const t = useTexts(texts);
  return <StateDot state={targetTones[state]} label={t(`target.${state}`)} />;
}
