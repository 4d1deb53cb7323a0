import { type ReactNode, useEffect } from 'react';
import { classes } from './class.ts';

interface PageProps {
  readonly title: string;
  /** Shown in the place of the title, where that is more than text. */
  readonly heading?: ReactNode;
  readonly description?: ReactNode;
  /** Buttons at the right. */
  readonly actions?: ReactNode;
  /** Leads back to what this is one of. */
  readonly back?: ReactNode;
  readonly children: ReactNode;
}

/** A page: its head and what follows. */
export function Page({ title, heading, description, actions, back, children }: PageProps) {
  useTitle(title);
  return (
    <div className="mx-auto flex w-full max-w-[90rem] flex-col gap-5 px-4 pt-5 pb-12 sm:px-6">
      <header className="flex flex-wrap items-start justify-between gap-x-6 gap-y-3">
        <div className="min-w-0 flex-1 basis-64">
          {back !== undefined && <div className="mb-1 text-xs text-soft">{back}</div>}
          <h1 className="text-xl break-words tracking-tight">{heading ?? title}</h1>
          {description !== undefined && (
            <div className="mt-0.5 max-w-prose text-pretty break-words text-soft">{description}</div>
          )}
        </div>
        {actions !== undefined && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
      </header>
      {children}
    </div>
  );
}

interface SectionProps {
  readonly title?: ReactNode;
  readonly description?: ReactNode;
  readonly actions?: ReactNode;
  /** Without an edge around its content, as tables that bring theirs. */
  readonly plain?: boolean;
  readonly className?: string;
  readonly children: ReactNode;
}

/** A part of a page, with a heading of its own. */
export function Section({ title, description, actions, plain = false, className, children }: SectionProps) {
  return (
    <section className={classes('flex min-w-0 flex-col gap-2', className)}>
      {(title !== undefined || actions !== undefined) && (
        <div className="flex min-h-7 flex-wrap items-center justify-between gap-2">
          <div className="min-w-0">
            {title !== undefined && <h2 className="text-base">{title}</h2>}
            {description !== undefined && <p className="text-pretty text-soft">{description}</p>}
          </div>
          {actions !== undefined && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
        </div>
      )}
      {plain ? (
        children
      ) : (
        <div className="min-w-0 rounded-lg border border-line bg-surface p-4">{children}</div>
      )}
    </section>
  );
}

/** Names the tab of the browser after the page. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Headgate`;
  }, [title]);
}
