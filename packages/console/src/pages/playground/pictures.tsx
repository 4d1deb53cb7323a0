import { ImagePlus, X } from 'lucide-react';
import { useRef } from 'react';
import { useTexts } from '../../app/texts.ts';
import { IconButton } from '../../ui/button.tsx';
import { toast } from '../../ui/toast.tsx';
import * as texts from './texts.ts';

const imageBytesMax = 5_000_000;
const imagesMax = 4;

interface PicturesProps {
  readonly images: readonly string[];
  readonly onChange: (images: readonly string[]) => void;
}

/** Pictures of the next turn, as data URLs. */
export function Pictures({ images, onChange }: PicturesProps) {
  const t = useTexts(texts);
  const files = useRef<HTMLInputElement>(null);
  const add = async (chosen: FileList | null) => {
    const given = [...(chosen ?? [])].slice(0, imagesMax - images.length);
    const small = given.filter(({ size }) => size <= imageBytesMax);
    if (small.length < given.length) toast.error(t('imageTooLarge'));
    const read = await Promise.all(small.map(dataUrlOf));
    onChange([...images, ...read]);
  };
  return (
    <>
      {images.length < imagesMax && (
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
            onClick={() => onChange(images.filter((_, place) => place !== at))}
            className="absolute -top-1.5 -right-1.5 rounded-full border border-line bg-raised p-0.5"
          >
            <X size={10} aria-hidden />
          </button>
        </span>
      ))}
    </>
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
