import { ImagePlus, Send, Square, X } from 'lucide-react';
import { useRef, useState } from 'react';
import { useTexts } from '../../app/texts.ts';
import { Button, IconButton } from '../../ui/button.tsx';
import { TextArea } from '../../ui/field.tsx';
import { toast } from '../../ui/toast.tsx';
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

const imageBytesMax = 5_000_000;
const imagesMax = 4;

/** The next turn: text, and pictures where the model takes them. */
export function PromptBox({ isRunning, mayAsk, takesImages, onSend, onStop, onClear }: PromptBoxProps) {
  const t = useTexts(texts);
  const [text, setText] = useState('');
  const [images, setImages] = useState<readonly string[]>([]);
  const files = useRef<HTMLInputElement>(null);
  const send = () => {
    if (text.trim() === '' || isRunning || !mayAsk) return;
    onSend({ role: 'user', text, ...(images.length === 0 ? {} : { images }) });
    setText('');
    setImages([]);
  };
  const add = async (chosen: FileList | null) => {
    const given = [...(chosen ?? [])].slice(0, imagesMax - images.length);
    const small = given.filter(({ size }) => size <= imageBytesMax);
    if (small.length < given.length) toast.error(t('imageTooLarge'));
    const read = await Promise.all(small.map(dataUrlOf));
    setImages((before) => [...before, ...read]);
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
        {takesImages && images.length < imagesMax && (
          <>
            <IconButton icon={ImagePlus} label={t('addImage')} onClick={() => files.current?.click()} />
            <input
              ref={files}
              type="file"
              accept="image/png,image/jpeg,image/webp,image/gif"
              multiple
              hidden
              onChange={(event) => {
                void add(event.target.files);
                event.target.value = '';
              }}
            />
          </>
        )}
        {images.map((url, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: The same picture may be there twice.
          <span key={at} className="relative">
            <img
              src={url}
              alt={t('imageAlt', { number: at + 1 })}
              className="size-9 rounded-md border border-line object-cover"
            />
            <button
              type="button"
              aria-label={t('removeImage', { number: at + 1 })}
              onClick={() => setImages((before) => before.filter((_, place) => place !== at))}
              className="absolute -top-1.5 -right-1.5 rounded-full border border-line bg-raised p-0.5"
            >
              <X size={10} aria-hidden />
            </button>
          </span>
        ))}
        <Button variant="ghost" className="ml-auto" onClick={onClear}>
          {t('newConversation')}
        </Button>
      </div>
    </form>
  );
}

function dataUrlOf(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error ?? new Error('unreadable'));
    reader.readAsDataURL(file);
  });
}
