import type { TurnNotes } from '../../translate/turn-notes.ts';
import type { MediaBlock, MediaSource, TextBlock } from '../../turn.ts';
import { listOf, recordOf, stringOf, type WireRecord } from '../../wire-values.ts';
import { readCacheTtl } from './cache-control.ts';

type Material = readonly (TextBlock | MediaBlock)[];

export function readImage(wire: WireRecord, notes: TurnNotes): Material {
  if (wire['transformations']) notes.lose('messages[].content[].transformations');
  return readMedia('image', wire, notes);
}

/** A file, or the blocks it is made of. */
export function readDocument(wire: WireRecord, notes: TurnNotes): Material {
  if (wire['context']) notes.lose('messages[].content[].context');
  if (recordOf(wire['citations'])['enabled'] === true) notes.lose('messages[].content[].citations');
  const source = recordOf(wire['source']);
  return source['type'] === 'content' ? readParts(source['content'], notes) : readMedia('file', wire, notes);
}

function readParts(content: unknown, notes: TurnNotes): Material {
  if (typeof content === 'string') return [plainText(content)];
  return listOf(content)
    .map(recordOf)
    .flatMap((part) =>
      part['type'] === 'image' ? readImage(part, notes) : [plainText(stringOf(part['text']) ?? '')],
    );
}

function readMedia(media: MediaBlock['media'], wire: WireRecord, notes: TurnNotes): Material {
  const source = recordOf(wire['source']);
  const place = readSource(source);
  if (place === null) {
    notes.blame(
      'messages[].content[].source',
      `The source of a block of type '${wire['type']}' cannot be read.`,
    );
    return [];
  }
  return [
    {
      kind: 'media',
      media,
      mediaType: stringOf(source['media_type']) ?? (place.kind === 'text' ? 'text/plain' : null),
      source: place,
      filename: stringOf(wire['title']),
      detail: null,
      cacheTtl: readCacheTtl(wire),
    },
  ];
}

function readSource(source: WireRecord): MediaSource | null {
  const data = stringOf(source['data']);
  const url = stringOf(source['url']);
  const id = stringOf(source['file_id']);
  switch (source['type']) {
    case 'base64':
      return data === null ? null : { kind: 'base64', data };
    case 'text':
      return data === null ? null : { kind: 'text', text: data };
    case 'url':
      return url === null ? null : { kind: 'url', url };
    case 'file':
      return id === null ? null : { kind: 'id', id };
    default:
      return null;
  }
}

function plainText(text: string): TextBlock {
  return { kind: 'text', text, citations: [], cacheTtl: null };
}
