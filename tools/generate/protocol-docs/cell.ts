import { unreachable } from '@headgate/protocols';
import type { Landing } from './difference.ts';
import { type Outcome, outcomeOf, targetKinds } from './outcome.ts';
import type { Probe, ProbeGroup, ProbeSheet, SurfaceId } from './probe.ts';

/** A cell of a page's table: what becomes of this at that upstream, and where that depends on the model. */
export function cellOf(sheet: ProbeSheet, group: ProbeGroup, probe: Probe, upstream: SurfaceId): string {
  const kinds = new Map<string, string[]>();
  for (const { name, target } of targetKinds(upstream)) {
    const told = tell(outcomeOf(sheet, group, probe, upstream, target), probe);
    kinds.set(told, [...(kinds.get(told) ?? []), name]);
  }
  const [[usual = ''] = [], ...others] = kinds;
  return [usual, ...others.map(([told, names]) => `*${conditionOf(names)}:* ${told}`)].join(' · ');
}

/** A word that holds for all that think need not be said for some of them. */
function conditionOf(names: readonly string[]): string {
  const plain = names.filter((name) => !name.includes(','));
  return (plain.length > 0 ? plain : names).join(' or ');
}

function tell(outcome: Outcome, { here }: Probe): string {
  switch (outcome.kind) {
    case 'carried':
      return places(outcome.landed);
    case 'changed':
      return [places(outcome.landed), ...notesOf(outcome.losses)].filter((text) => text !== '').join(', ');
    case 'dropped':
      return tellDropped(places(outcome.landed), notesOf(outcome.losses));
    case 'refused':
      return '**refused**';
    case 'silent':
      return here ?? '**lost**';
    default:
      return unreachable(outcome);
  }
}

/** The members beside it may have arrived, or something in its place. */
function tellDropped(arrived: string, notes: readonly string[]): string {
  if (arrived === '') return ['dropped', ...notes].join(', ');
  return [arrived, ...(notes.length === 0 ? ['in part'] : notes)].join(', ');
}

function notesOf(losses: readonly { readonly note: string | null }[]): readonly string[] {
  return [...new Set(losses.flatMap(({ note }) => note ?? []))];
}

/** Places that are named; those that follow go along with them. */
const placesMax = 2;

function places(landed: readonly Landing[]): string {
  const sent = landed.filter(({ word }) => word !== leftOut);
  if (sent.length === 0) return landed.length === 0 ? '' : `less of \`${landed[0]?.path ?? ''}\``;
  return sent.slice(0, placesMax).map(place).join(', ');
}

const leftOut = 'left out';

function place({ path, word }: Landing): string {
  return word === '' ? `\`${path}\`` : `\`${path}\` (${word})`;
}
