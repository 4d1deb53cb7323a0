import { CircleAlert, CircleCheck, X } from 'lucide-react';
import { Choice, useChoice } from '../app/choice.ts';
import { useTexts } from '../app/texts.ts';
import { IconButton } from './button.tsx';
import * as texts from './texts.ts';

interface Message {
  readonly id: number;
  readonly tone: 'good' | 'bad';
  readonly text: string;
}

const messagesMax = 3;
const shownMs = 6_000;
const messages = new Choice<readonly Message[]>([]);
let lastId = 0;

/** Says in passing what came of something; what must be acted upon belongs into the page. */
export const toast = {
  success: (text: string) => show('good', text),
  error: (what: unknown) => show('bad', what instanceof Error ? what.message : String(what)),
};

function show(tone: Message['tone'], text: string): void {
  lastId += 1;
  const id = lastId;
  messages.set([...messages.get(), { id, tone, text }].slice(-messagesMax));
  setTimeout(() => dismiss(id), shownMs);
}

function dismiss(id: number): void {
  messages.set(messages.get().filter((message) => message.id !== id));
}

/** The place where they appear, once in the page. */
export function Toasts() {
  const t = useTexts(texts);
  const shown = useChoice(messages);
  return (
    <div
      role="status"
      aria-live="polite"
      className="pointer-events-none fixed right-4 bottom-4 left-4 z-60 flex flex-col items-end gap-2"
    >
      {shown.map(({ id, tone, text }) => (
        <div
          key={id}
          className="pointer-events-auto flex max-w-sm items-start gap-2 rounded-md border border-line bg-raised py-2 pr-1.5 pl-3 shadow-pop"
        >
          {tone === 'good' ? (
            <CircleCheck size={15} className="mt-0.5 shrink-0 text-good" aria-hidden />
          ) : (
            <CircleAlert size={15} className="mt-0.5 shrink-0 text-bad" aria-hidden />
          )}
          <span className="min-w-0 flex-1 break-words">{text}</span>
          <IconButton icon={X} label={t('close')} onClick={() => dismiss(id)} className="-my-1" />
        </div>
      ))}
    </div>
  );
}
