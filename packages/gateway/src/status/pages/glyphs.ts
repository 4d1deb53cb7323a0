import type { ShownState } from '../board.ts';
import { type Markup, markup } from './markup.ts';

/** Each state has a shape of its own, for those who do not see its colour. */
const shapes: Readonly<Record<ShownState, string>> = {
  operational: 'M8 1a7 7 0 100 14A7 7 0 008 1zM4.5 8.2l2.4 2.4 4.6-4.9',
  degraded: 'M8 1.5L15 14.5H1zM8 6v4M8 12v.5',
  partial: 'M8 1l7 7-7 7-7-7zM8 5v3.6M8 10.6v.5',
  outage: 'M5 1h6l4 4v6l-4 4H5l-4-4V5zM5.5 5.5l5 5M10.5 5.5l-5 5',
  unknown: 'M8 1a7 7 0 100 14A7 7 0 008 1zM5 8h6',
  maintenance: 'M2 2h12v12H2zM8 7.4v3.8M8 4.6v.5',
};

/** It says nothing that does not stand beside it. */
export function glyph(state: ShownState): Markup {
  return markup`<svg class="glyph ${state}" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true"><path d="${shapes[state]}"/></svg>`;
}
