import { changed } from '../../loss.ts';
import { unreachable } from '../../result.ts';
import { mediaField } from '../../translate/caller-fields.ts';
import { dataUrl } from '../../translate/data-url.ts';
import type { Citation, MediaBlock, RefusalBlock, TextBlock } from '../../turn.ts';
import type { WriteNotes } from './write-notes.ts';

/** A piece of what somebody other than the model says. */
export function writeInputPart(
  block: TextBlock | MediaBlock | RefusalBlock,
  notes: WriteNotes,
): object | null {
  switch (block.kind) {
    case 'text':
    case 'refusal':
      return { type: 'input_text', text: block.text };
    case 'media':
      return writeMedia(block, notes);
    default:
      return unreachable(block);
  }
}

/** A piece of what the model has said. */
export function writeOutputPart(block: TextBlock | RefusalBlock): object {
  if (block.kind === 'refusal') return { type: 'refusal', refusal: block.text };
  return { type: 'output_text', text: block.text, annotations: writeCitations(block) };
}

/** Annotations for what names a page; where a citation does not say which words it is for, it is for all of them. */
export function writeCitations({
  text,
  citations,
}: Pick<TextBlock, 'text' | 'citations'>): readonly object[] {
  return citations.flatMap((citation) => writeCitation(citation, text.length) ?? []);
}

function writeCitation({ url, title, start, end }: Citation, length: number): object | null {
  if (url === null) return null;
  return { type: 'url_citation', url, title: title ?? '', start_index: start ?? 0, end_index: end ?? length };
}

function writeMedia(block: MediaBlock, notes: WriteNotes): object | null {
  switch (block.media) {
    case 'image':
      return writeImage(block, notes);
    case 'file':
      return writeFile(block, notes);
    case 'audio':
      notes.refuse(mediaField(notes.surface, 'audio'), 'send its text instead');
      return null;
    default:
      return unreachable(block.media);
  }
}

function writeImage(block: MediaBlock, notes: WriteNotes): object | null {
  const { source, mediaType } = block;
  const common = { type: 'input_image', detail: block.detail ?? 'auto' };
  switch (source.kind) {
    case 'url':
      return { ...common, image_url: source.url };
    case 'base64':
      return { ...common, image_url: dataUrl(mediaType ?? 'image/png', source.data) };
    case 'id':
      return writeFileId(common, source.id, block, notes);
    case 'text':
      return { type: 'input_text', text: source.text };
    default:
      return unreachable(source);
  }
}

function writeFile(block: MediaBlock, notes: WriteNotes): object | null {
  const { source } = block;
  const common = { type: 'input_file' };
  switch (source.kind) {
    case 'url':
      return { ...common, file_url: source.url };
    case 'base64': {
      const mediaType = block.mediaType ?? 'application/pdf';
      return {
        ...common,
        filename: block.filename ?? filenameOf(mediaType),
        file_data: dataUrl(mediaType, source.data),
      };
    }
    case 'id':
      return writeFileId(common, source.id, block, notes);
    case 'text':
      notes.lose(changed(mediaField(notes.surface, 'file'), 'sent as text'));
      return { type: 'input_text', text: [block.filename, source.text].filter(Boolean).join('\n\n') };
    default:
      return unreachable(source);
  }
}

/** Data must have a name, and what kind of file it is is read from it. */
function filenameOf(mediaType: string): string {
  return mediaType === 'application/pdf' ? 'document.pdf' : `document.${mediaType.split(/[/+]/).at(-1)}`;
}

/** A file that a vendor has can be named to that vendor alone. */
function writeFileId(common: object, id: string, { media }: MediaBlock, notes: WriteNotes): object | null {
  if (notes.surface === 'responses') return { ...common, file_id: id };
  notes.refuse(mediaField(notes.surface, media), 'send its content instead of an id');
  return null;
}
