import { Outlet } from '@tanstack/react-router';
import { WifiOff } from 'lucide-react';
import { useSyncExternalStore } from 'react';
import { Toasts } from '../ui/toast.tsx';
import * as texts from './shell-texts.ts';
import { useTexts } from './texts.ts';

/** Every page has this around it, with the shell or without. */
export function AppFrame() {
  const t = useTexts(texts);
  const isOnline = useSyncExternalStore(listenForNetwork, () => navigator.onLine);
  return (
    <>
      {!isOnline && (
        <div
          role="alert"
          data-offline
          className="sticky top-0 z-40 flex items-center justify-center gap-2 bg-warn-tint px-4 py-1.5 text-warn backdrop-blur-md"
        >
          <WifiOff size={14} aria-hidden />
          {t('offline')}
        </div>
      )}
      <Outlet />
      <Toasts />
    </>
  );
}

function listenForNetwork(listener: () => void): () => void {
  addEventListener('online', listener);
  addEventListener('offline', listener);
  return () => {
    removeEventListener('online', listener);
    removeEventListener('offline', listener);
  };
}
