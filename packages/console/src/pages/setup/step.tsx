import { Check } from 'lucide-react';
import type { ReactNode, RefObject } from 'react';
import { useTexts } from '../../app/texts.ts';
import { Button } from '../../ui/button.tsx';
import { classes } from '../../ui/class.ts';
import * as texts from './texts.ts';

interface GuideStepProps {
  readonly number: number;
  readonly title: string;
  readonly about: string;
  readonly state: 'done' | 'open' | 'later';
  /** In the place of its content, once it is done or put off. */
  readonly cameTo: string;
  /** Null where it cannot be gone to. */
  readonly onOpen: (() => void) | null;
  /** The heading that is to take the focus. */
  readonly heading: RefObject<HTMLHeadingElement | null> | null;
  readonly children: ReactNode;
}

/** One step of the way: its sign, its name, and what is to be done. */
export function GuideStep(props: GuideStepProps) {
  const { number, title, about, state, cameTo, onOpen, heading, children } = props;
  const t = useTexts(texts);
  const isOpen = state === 'open';
  return (
    <li
      aria-current={isOpen ? 'step' : undefined}
      className="relative flex gap-3 pb-5 not-last:before:absolute not-last:before:top-8 not-last:before:bottom-1 not-last:before:left-3 not-last:before:w-px not-last:before:bg-line sm:gap-4"
    >
      <span
        aria-hidden
        className={classes(
          'mt-0.5 grid size-6 shrink-0 place-items-center rounded-full text-xs font-medium tabular-nums',
          state === 'done'
            ? 'bg-good-tint text-good'
            : isOpen
              ? 'bg-fill text-on-fill'
              : 'bg-hover text-soft',
        )}
      >
        {state === 'done' ? <Check size={14} /> : number}
      </span>
      <div className="flex min-w-0 flex-1 flex-col gap-3">
        <div className="flex min-h-7 flex-wrap items-center justify-between gap-x-3 gap-y-1">
          <div className="min-w-0 flex-1">
            <h2
              ref={heading}
              tabIndex={-1}
              className={classes('text-base outline-none', state === 'later' && 'text-soft')}
            >
              {title}
              <span className="sr-only">{` – ${t(`state.${state}`)}`}</span>
            </h2>
            {isOpen ? (
              <p className="text-soft">{about}</p>
            ) : (
              cameTo !== '' && <p className="truncate text-soft">{cameTo}</p>
            )}
          </div>
          {!isOpen && onOpen !== null && (
            <Button size="sm" variant="ghost" onClick={onOpen}>
              <span>
                {t(state === 'done' ? 'again' : 'open')}
                <span className="sr-only">{`: ${title}`}</span>
              </span>
            </Button>
          )}
        </div>
        {isOpen && children}
      </div>
    </li>
  );
}
