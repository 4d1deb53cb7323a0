import { Tooltip as TooltipParts } from '@base-ui/react/tooltip';
import type { ReactElement, ReactNode } from 'react';

/** More about something, when it is pointed at or has the focus. The child must be able to have the focus. */
export function Tooltip({
  content,
  children,
}: {
  readonly content: ReactNode;
  readonly children: ReactElement;
}) {
  return (
    <TooltipParts.Root>
      <TooltipParts.Trigger delay={250} render={children} />
      <TooltipParts.Portal>
        <TooltipParts.Positioner sideOffset={6} className="z-50">
          <TooltipParts.Popup className="max-w-xs rounded-md border border-line bg-raised px-2 py-1 text-xs shadow-pop">
            {content}
          </TooltipParts.Popup>
        </TooltipParts.Positioner>
      </TooltipParts.Portal>
    </TooltipParts.Root>
  );
}
