import type { ReactNode } from 'react';
import { useTitle } from '../ui/page.tsx';
import { AppearanceMenu } from './appearance-menu.tsx';
import { Brand } from './brand.tsx';

const widths = {
  narrow: 'max-w-sm justify-center',
  middle: 'max-w-3xl pt-4 sm:pt-8',
  wide: 'max-w-5xl pt-6',
} as const;

interface BarePageProps {
  readonly title: string;
  readonly description?: ReactNode;
  /** The deployment's name, where it is known. */
  readonly deployment?: string;
  readonly width?: keyof typeof widths;
  readonly children: ReactNode;
}

/** A page that stands alone, as that for signing in. */
export function BarePage({ title, description, deployment, width = 'narrow', children }: BarePageProps) {
  useTitle(title);
  return (
    <div className="flex min-h-dvh flex-col">
      <header className="flex items-center justify-between px-4 py-3 sm:px-6">
        <Brand name={deployment} />
        <AppearanceMenu />
      </header>
      <main className={`mx-auto flex w-full flex-1 flex-col px-4 pb-16 ${widths[width]}`}>
        <h1 className="text-xl tracking-tight">{title}</h1>
        {description !== undefined && <div className="mt-1 text-soft">{description}</div>}
        <div className="mt-5">{children}</div>
      </main>
    </div>
  );
}
