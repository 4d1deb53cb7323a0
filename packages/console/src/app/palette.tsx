import { Dialog as DialogParts } from '@base-ui/react/dialog';
import { useNavigate } from '@tanstack/react-router';
import { FileSearch, KeyRound, type LucideIcon } from 'lucide-react';
import { type KeyboardEvent, useEffect, useId, useState } from 'react';
import { useGet } from '../api/hooks.ts';
import { classes } from '../ui/class.ts';
import { backdropClass } from '../ui/popup.ts';
import { navigationOf } from './navigation.ts';
import { useSession } from './session.tsx';
import * as texts from './shell-texts.ts';
import { useTexts } from './texts.ts';

interface Destination {
  readonly id: string;
  readonly label: string;
  readonly detail: string;
  readonly icon: LucideIcon;
  readonly href: string;
}

interface FoundKeys {
  readonly items: readonly { readonly id: string; readonly name: string; readonly hint: string }[];
}

const traceId = /^[0-9a-f]{32}$/i;
const pauseMs = 200;

/** Goes to a page, a key or a call, by typing a part of its name or pasting its trace id. */
export function Palette({ onClose }: { readonly onClose: () => void }) {
  const t = useTexts(texts);
  const navigate = useNavigate();
  const list = useId();
  const [typed, setTyped] = useState('');
  const [at, setAt] = useState(0);
  const destinations = useDestinations(typed.trim());
  const chosen = Math.min(at, destinations.length - 1);
  const go = (destination: Destination | undefined) => {
    if (destination === undefined) return;
    onClose();
    void navigate({ href: destination.href });
  };
  const onKey = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === 'Enter' && !event.nativeEvent.isComposing) go(destinations[chosen]);
    if (step === undefined) return;
    event.preventDefault();
    setAt((chosen + step + destinations.length) % Math.max(1, destinations.length));
  };
  return (
    <DialogParts.Root open onOpenChange={(isOpen) => !isOpen && onClose()}>
      <DialogParts.Portal>
        <DialogParts.Backdrop className={backdropClass} />
        <DialogParts.Popup
          aria-label={t('search')}
          className="fixed top-[14vh] left-1/2 z-50 w-[calc(100%-2rem)] max-w-lg -translate-x-1/2 overflow-hidden rounded-lg border border-line bg-raised shadow-pop outline-none"
        >
          <input
            role="combobox"
            aria-label={t('searchHint')}
            aria-expanded="true"
            aria-controls={list}
            aria-activedescendant={destinations[chosen] && `${list}-${chosen}`}
            placeholder={t('searchHint')}
            value={typed}
            onChange={(event) => {
              setTyped(event.target.value);
              setAt(0);
            }}
            onKeyDown={onKey}
            className="h-11 w-full border-b border-line bg-transparent px-4 text-base outline-none placeholder:text-faint"
          />
          <Destinations
            list={list}
            destinations={destinations}
            chosen={chosen}
            onChoose={go}
            onPoint={setAt}
          />
        </DialogParts.Popup>
      </DialogParts.Portal>
    </DialogParts.Root>
  );
}

interface DestinationsProps {
  readonly list: string;
  readonly destinations: readonly Destination[];
  readonly chosen: number;
  readonly onChoose: (destination: Destination) => void;
  readonly onPoint: (place: number) => void;
}

function Destinations({ list, destinations, chosen, onChoose, onPoint }: DestinationsProps) {
  const t = useTexts(texts);
  if (destinations.length === 0) return <p className="px-4 py-3 text-soft">{t('nothingFound')}</p>;
  return (
    <div id={list} role="listbox" aria-label={t('pages')} className="max-h-80 overflow-y-auto p-1.5">
      {destinations.map((destination, place) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: The keys are heard by the field, which keeps the focus.
        <div
          key={destination.id}
          id={`${list}-${place}`}
          role="option"
          tabIndex={-1}
          aria-selected={place === chosen}
          onClick={() => onChoose(destination)}
          onMouseMove={() => onPoint(place)}
          className={classes(
            'flex cursor-pointer items-center gap-2.5 rounded-md px-2.5 py-1.5',
            place === chosen && 'bg-hover',
          )}
        >
          <destination.icon size={15} strokeWidth={1.75} className="shrink-0 text-soft" aria-hidden />
          <span className="min-w-0 flex-1 truncate">{destination.label}</span>
          <span className="max-w-40 truncate text-xs text-soft">{destination.detail}</span>
        </div>
      ))}
    </div>
  );
}

function useDestinations(typed: string): readonly Destination[] {
  const t = useTexts(texts);
  const session = useSession();
  const asked = usePaused(typed);
  const isTrace = traceId.test(typed);
  const found = useGet<FoundKeys>(
    '/keys',
    { q: asked, limit: 6, account: session.account },
    { enabled: asked.length > 1 && !isTrace },
  );
  if (isTrace) {
    const id = typed.toLowerCase();
    return [
      {
        id,
        label: t('openCall', { id: `${id.slice(0, 8)}…` }),
        detail: t('calls'),
        icon: FileSearch,
        href: `/calls/${id}`,
      },
    ];
  }
  const words = typed.toLowerCase();
  const pages = navigationOf(session)
    .flatMap(({ entries }) => entries)
    .map(({ to, name, icon }) => ({ id: to, label: t(`nav.${name}`), detail: t('pages'), icon, href: to }))
    .filter(({ label }) => label.toLowerCase().includes(words));
  const keys = (asked.length > 1 && typed.length > 1 ? (found.data?.items ?? []) : []).map(
    ({ id, name, hint }) => ({
      ...{ id: `key ${id}`, label: name === '' ? id : name, detail: hint, icon: KeyRound },
      href: `/keys/${encodeURIComponent(id)}`,
    }),
  );
  return [...pages, ...keys];
}

/** The text as it was when the typing last paused. */
function usePaused(text: string): string {
  const [paused, setPaused] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setPaused(text), pauseMs);
    return () => clearTimeout(timer);
  }, [text]);
  return paused;
}
