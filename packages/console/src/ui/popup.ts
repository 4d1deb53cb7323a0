/** The look of what opens over the page beside the control that it belongs to. */
export const popupClass =
  'z-50 max-h-[min(24rem,var(--available-height))] overflow-y-auto rounded-md border border-line bg-raised p-1 shadow-pop outline-none';

/** The veil over the page while a window is open. */
export const backdropClass =
  'fixed inset-0 z-40 bg-veil transition-opacity duration-150 data-[ending-style]:opacity-0 data-[starting-style]:opacity-0';
