import type { MediaBlock } from '../turn.ts';
import type { TurnNotes } from './turn-notes.ts';

/** How closely an image is to be looked at, in the words chat and responses share. `field`: as the caller spells it. */
export function readImageDetail(detail: unknown, field: string, notes: TurnNotes): MediaBlock['detail'] {
  switch (detail) {
    case 'low':
    case 'high':
    case 'auto':
      return detail;
    case null:
    case undefined:
      return null;
    default:
      notes.lose(field);
      return detail === 'original' ? 'high' : null;
  }
}
