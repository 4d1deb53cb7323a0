import { lazy, type ReactNode, Suspense, useState } from 'react';

export interface DialogProps {
  readonly open: boolean;
  readonly onClose: () => void;
  readonly title: string;
  readonly description?: ReactNode;
  readonly children?: ReactNode;
  /** Buttons, the one that goes on last. */
  readonly footer?: ReactNode;
  /** `side` comes from the right, for what is long. */
  readonly size?: 'sm' | 'md' | 'lg' | 'side';
}

const DialogWindow = lazy(async () => ({ default: (await import('./dialog-parts.tsx')).DialogWindow }));

/** A window over the page, which waits for an answer. It is fetched when the first one opens. */
export function Dialog(props: DialogProps) {
  const [wasOpen, setWasOpen] = useState(props.open);
  if (props.open && !wasOpen) setWasOpen(true);
  if (!wasOpen) return null;
  return (
    <Suspense>
      <DialogWindow {...props} />
    </Suspense>
  );
}
