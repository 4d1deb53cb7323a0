/** What the price of one image goes by, as the wire spells it; null where nothing was said. */
export interface ImageKind {
  readonly size: string | null;
  readonly quality: string | null;
}

export const noImageKind: ImageKind = { size: null, quality: null };

const wordCharsMax = 32;

/** One word of a kind, as it will be stored; null for anything else. */
export function kindWord(value: unknown): string | null {
  return typeof value === 'string' && value !== '' && value.length <= wordCharsMax ? value : null;
}

/** What the answer says of its images, or else what was asked for. */
export function mergeImageKinds(said: ImageKind, asked: ImageKind): ImageKind {
  return { size: said.size ?? asked.size, quality: said.quality ?? asked.quality };
}

/** Images of one answer, in pieces. */
export interface ImageCount {
  readonly finished: number;
  /** Drafts of an image that is not finished: no usage covers them. */
  readonly drafts: number;
  /** As the answer states it. */
  readonly kind: ImageKind;
}
