import { CircleAlert, CircleCheck, Info, TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { classes } from './class.ts';

const looks = {
  accent: ['bg-tint', 'text-accent', Info],
  good: ['bg-good-tint', 'text-good', CircleCheck],
  warn: ['bg-warn-tint', 'text-warn', TriangleAlert],
  bad: ['bg-bad-tint', 'text-bad', CircleAlert],
} as const;

interface NoticeProps {
  readonly tone?: keyof typeof looks;
  readonly title?: ReactNode;
  readonly action?: ReactNode;
  readonly children?: ReactNode;
}

/** Something that must not be overlooked, at its place in the page. */
export function Notice({ tone = 'accent', title, action, children }: NoticeProps) {
  const [ground, ink, Icon] = looks[tone];
  return (
    <div
      className={classes('flex items-start gap-2.5 rounded-md px-3 py-2', ground)}
      role={tone === 'bad' ? 'alert' : 'note'}
    >
      <Icon size={15} className={classes('mt-0.5 shrink-0', ink)} aria-hidden />
      <div className="min-w-0 flex-1 break-words">
        {title !== undefined && <p className="font-medium">{title}</p>}
        {children}
      </div>
      {action}
    </div>
  );
}
