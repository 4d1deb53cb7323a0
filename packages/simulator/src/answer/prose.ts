import type { Ask, BrokenAnswer } from './ask.ts';

const quotedCharactersMax = 160;

const filler = wordPieces(
  ' The words that follow are filler, so that the answer has the length that was asked for. ' +
    'A lighthouse keeps no record of the ships it has helped; it turns, and the dark is shorter for it. ' +
    'Rivers draw the maps that people later sell. Bread rises at its own pace. A good bridge is noticed once, ' +
    'and then it is simply the way across. Nothing here was thought about, only counted.',
);

const reasoningFiller = wordPieces(
  'This is simulated reasoning. The question is read, a first idea is weighed, a second one is set aside, ' +
    'and the plain answer is chosen because it can be checked by counting its words. ',
);

/** The words of a simulated answer; exactly `tokens` of them, or as many as come naturally when null. */
export function answerWords(ask: Ask, choice: number, tokens: number | null): readonly string[] {
  const natural = wordPieces(naturalAnswer(ask, choice));
  const words = tokens === null ? natural : stretch(natural, filler, tokens);
  return ask.broken === undefined ? words : restOf(words.join(''), ask.broken);
}

/** A model that has said something else begins anew. */
function restOf(text: string, { said, repeated }: BrokenAnswer): readonly string[] {
  return wordPieces(text.startsWith(said) ? text.slice(said.length - repeated.length) : text);
}

export function reasoningWords(tokens: number): readonly string[] {
  return stretch([], reasoningFiller, tokens);
}

export function refusalWords(tokens: number | null): readonly string[] {
  const natural = wordPieces("This is a simulated refusal: I'm sorry, but I can't help with that.");
  return tokens === null ? natural : stretch(natural, filler, tokens);
}

function naturalAnswer(ask: Ask, choice: number): string {
  const opening = choice === 0 ? 'This is' : `Number ${choice + 1}: this is`;
  const about = ask.answersTool ? 'The tool returned' : 'You wrote';
  return (
    `${opening} a simulated answer; no real model was asked. ${about}: “${quote(ask.lastText)}”. ` +
    `I counted ${ask.broken?.promptTokens ?? ask.promptTokens} tokens in your prompt and send one word per token, so the usage you see ` +
    'is exact. Connect a real channel to get a real answer.'
  );
}

function quote(text: string): string {
  const start = text.trimStart().slice(0, quotedCharactersMax).trimEnd();
  if (text.trim().length <= quotedCharactersMax) return start;
  const lastSpace = start.search(/\s\S*$/);
  return `${lastSpace < 0 ? start.toWellFormed() : start.slice(0, lastSpace)} …`;
}

/** The first `length` pieces of `natural` followed by `more`, repeated for as long as it takes. */
function stretch(natural: readonly string[], more: readonly string[], length: number): readonly string[] {
  const words = natural.slice(0, length);
  while (words.length < length) words.push(...more.slice(0, length - words.length));
  return words;
}

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
