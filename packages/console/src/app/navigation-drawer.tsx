import { Dialog as DialogParts } from '@base-ui/react/dialog';
import type { ReactNode } from 'react';
import { backdropClass } from '../ui/popup.ts';
import * as texts from './shell-texts.ts';
import { useTexts } from './texts.ts';

interface NavigationDrawerProps {
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** The navigation of narrow windows: it comes from the left and lies over the page. */
export function NavigationDrawer({ onClose, children }: NavigationDrawerProps) {
  const t = useTexts(texts);
  return (
    <DialogParts.Root open onOpenChange={(isOpen) => !isOpen && onClose()}>
      <DialogParts.Portal>
        <DialogParts.Backdrop className={backdropClass} />
        <DialogParts.Popup
          aria-label={t('navigation')}
          className="fixed inset-y-0 left-0 z-50 w-64 border-r border-line bg-sunken shadow-pop outline-none transition-transform duration-150 data-[starting-style]:-translate-x-full"
        >
          {children}
        </DialogParts.Popup>
      </DialogParts.Portal>
    </DialogParts.Root>
  );
}
