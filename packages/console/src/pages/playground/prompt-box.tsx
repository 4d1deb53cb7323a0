import { Send, Square } from 'lucide-react';
import { useState } from 'react';
import { useTexts } from '../../app/texts.ts';
import { Button } from '../../ui/button.tsx';
import { TextArea } from '../../ui/field.tsx';
import { Pictures } from './pictures.tsx';
import type { PlayTurn } from './surfaces.ts';
import * as texts from './texts.ts';

interface PromptBoxProps {
  readonly isRunning: boolean;
  readonly mayAsk: boolean;
  readonly takesImages: boolean;
  readonly onSend: (turn: PlayTurn) => void;
  readonly onStop: () => void;
  readonly onClear: () => void;
}

/** The next turn: text, and pictures where the model takes them. */
export function PromptBox({ isRunning, mayAsk, takesImages, onSend, onStop, onClear }: PromptBoxProps) {
  const t = useTexts(texts);
  const [text, setText] = useState('');
  const [images, setImages] = useState<readonly string[]>([]);
  const send = () => {
    if (text.trim() === '' || isRunning || !mayAsk) return;
    onSend({ role: 'user', text, ...(images.length === 0 ? {} : { images }) });
    setText('');
    setImages([]);
  };
  return (
    <form
      className="flex flex-col gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <TextArea
        rows={3}
        aria-label={t('prompt')}
        placeholder={t('promptHint')}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) send();
        }}
      />
      <div className="flex flex-wrap items-center gap-2">
        {isRunning ? (
          <Button variant="danger" icon={Square} onClick={onStop}>
            {t('stop')}
          </Button>
        ) : (
          <Button type="submit" variant="primary" icon={Send} disabled={text.trim() === '' || !mayAsk}>
            {t('send')}
          </Button>
        )}
        {takesImages && <Pictures images={images} onChange={setImages} />}
        <Button variant="ghost" className="ml-auto" onClick={onClear}>
          {t('newConversation')}
        </Button>
      </div>
    </form>
  );
}
