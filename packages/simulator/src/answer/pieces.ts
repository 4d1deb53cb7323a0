/** Cuts text into words, each with the white space before it: one piece per token, and joined they are the text. */
export function wordPieces(text: string): readonly string[] {
  return text.match(/\s*\S+/g) ?? [];
}

const charactersPerJsonPiece = 8;

/** Cuts JSON into pieces of eight characters (code points), the last one shorter. */
export function jsonPieces(json: string): readonly string[] {
  const characters = Array.from(json);
  const pieces: string[] = [];
  for (let start = 0; start < characters.length; start += charactersPerJsonPiece) {
    pieces.push(characters.slice(start, start + charactersPerJsonPiece).join(''));
  }
  return pieces;
}
