import type { Texts } from '../../app/texts.ts';

export const en = {
  title: 'Overview',
};

export const zh: Texts<typeof en> = {
  title: '总览',
};
