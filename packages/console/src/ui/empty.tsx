import type { LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';

interface EmptyProps {
  readonly title: string;
  /** Says what to do next. */
  readonly children?: ReactNode;
  readonly action?: ReactNode;
  readonly icon?: LucideIcon;
  /** It stands in the place of a whole page, whose heading its title then is. */
  readonly isPage?: boolean;
}

/** The place of what is not there, and how it comes there. */
export function Empty({ title, children, action, icon: Icon, isPage = false }: EmptyProps) {
  const Title = isPage ? 'h1' : 'p';
  return (
    <div className="flex flex-col items-center gap-1 px-4 py-10 text-center">
      {Icon && <Icon size={22} strokeWidth={1.5} className="mb-2 text-faint" aria-hidden />}
      <Title className="text-base font-medium">{title}</Title>
      {children !== undefined && (
        <div className="max-w-md text-balance break-words text-soft">{children}</div>
      )}
      {action !== undefined && <div className="mt-3">{action}</div>}
    </div>
  );
}
