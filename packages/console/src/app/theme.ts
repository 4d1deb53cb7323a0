import { Choice } from './choice.ts';
import { recall, remember } from './tab-storage.ts';

export const themes = ['system', 'light', 'dark'] as const;
export type Theme = (typeof themes)[number];

/** The theme of the page; `system` follows the system as it changes. */
export const theme = new Choice<Theme>('system');

export function startTheme(): void {
  const found = themeOf(recall('theme'));
  if (found !== null) show(found);
}

export function chooseTheme(chosen: Theme): void {
  remember('theme', chosen);
  show(chosen);
}

/** The choice of the person's profile holds where this tab has made none. */
export function adoptTheme(chosen: string | null | undefined): void {
  const found = themeOf(chosen);
  if (found !== null && themeOf(recall('theme')) === null) show(found);
}

function themeOf(text: string | null | undefined): Theme | null {
  return themes.find((name) => name === text) ?? null;
}

function show(chosen: Theme): void {
  if (chosen === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = chosen;
  theme.set(chosen);
}
