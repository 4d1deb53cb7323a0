import { lazy, Suspense, useState } from 'react';
import { Problem } from '../../api/problem.ts';
import { toast } from '../../ui/toast.tsx';

const ProofDialog = lazy(async () => ({ default: (await import('./proof-dialog.tsx')).ProofDialog }));

/**
 * Does what may want the password once more: where the API asks for it, the person is asked, and it is done again. `dialog` belongs
 * into the page.
 */
export function useProof() {
  const [waiting, setWaiting] = useState<(() => Promise<void>) | null>(null);
  const attempt = async (act: () => Promise<void>): Promise<void> => {
    try {
      await act();
    } catch (error) {
      if (error instanceof Problem && error.code === 'reauthentication_required') setWaiting(() => act);
      else throw error;
    }
  };
  const dialog = waiting !== null && (
    <Suspense>
      <ProofDialog
        onClose={() => setWaiting(null)}
        onProven={() => {
          setWaiting(null);
          waiting().catch(toast.error);
        }}
      />
    </Suspense>
  );
  return { attempt, dialog };
}

interface ProofForProps {
  readonly problem: unknown;
  /** Sends it again. */
  readonly again: () => Promise<void>;
}

/** The same for a form: stands beside it, never within, and sends it again once the person has proven themself. */
export function ProofFor({ problem, again }: ProofForProps) {
  const [dismissed, setDismissed] = useState<unknown>(null);
  const isWanted = problem instanceof Problem && problem.code === 'reauthentication_required';
  if (!isWanted || problem === dismissed) return null;
  return (
    <Suspense>
      <ProofDialog onClose={() => setDismissed(problem)} onProven={() => void again()} />
    </Suspense>
  );
}
