import { Dialog as DialogParts } from '@base-ui/react/dialog';
import { X } from 'lucide-react';
import { useTexts } from '../app/texts.ts';
import { IconButton } from './button.tsx';
import { classes } from './class.ts';
import type { DialogProps } from './dialog.tsx';
import { backdropClass } from './popup.ts';
import * as texts from './texts.ts';

const sizes = {
  sm: 'max-w-md',
  md: 'max-w-xl',
  lg: 'max-w-3xl',
  side: 'max-w-2xl',
} as const;

/** The window itself. */
export function DialogWindow({
  open,
  onClose,
  title,
  description,
  children,
  footer,
  size = 'sm',
}: DialogProps) {
  const t = useTexts(texts);
  const isSide = size === 'side';
  return (
    <DialogParts.Root open={open} onOpenChange={(isOpen) => !isOpen && onClose()}>
      <DialogParts.Portal>
        <DialogParts.Backdrop className={backdropClass} />
        <DialogParts.Popup
          className={classes(
            'fixed z-50 flex w-full flex-col border-line bg-raised shadow-pop outline-none transition-[opacity,transform] duration-150 data-[ending-style]:opacity-0 data-[starting-style]:opacity-0',
            isSide
              ? 'inset-y-0 right-0 border-l data-[starting-style]:translate-x-4'
              : 'top-[12vh] left-1/2 max-h-[80vh] w-[calc(100%-2rem)] -translate-x-1/2 rounded-lg border data-[starting-style]:-translate-y-1',
            sizes[size],
          )}
        >
          <div className="flex items-start gap-3 px-5 pt-4">
            <div className="min-w-0 flex-1">
              <DialogParts.Title className="text-base font-semibold break-words">{title}</DialogParts.Title>
              {description !== undefined && (
                <DialogParts.Description className="mt-1 text-soft" render={<div />}>
                  {description}
                </DialogParts.Description>
              )}
            </div>
            <IconButton icon={X} label={t('close')} onClick={onClose} className="-mt-0.5 -mr-1.5" />
          </div>
          <div className="flex min-h-0 flex-1 flex-col gap-4 overflow-y-auto px-5 pt-3 pb-5">{children}</div>
          {footer !== undefined && (
            <div className="flex flex-wrap justify-end gap-2 border-t border-line px-5 py-3">{footer}</div>
          )}
        </DialogParts.Popup>
      </DialogParts.Portal>
    </DialogParts.Root>
  );
}
