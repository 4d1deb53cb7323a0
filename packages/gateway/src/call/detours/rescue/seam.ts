/** An overlap of fewer characters may be chance, where more has been said. */
const overlapMin = 12;
/** A model that was given the beginning of its answer and begins anew is found out by so many characters at least. */
const restartMin = 16;
/** Places that are followed at a time where the same words have been said again and again. */
const placesMax = 64;
/** Overlaps that end within the first piece are looked for up to this length. Characters. */
const firstOverlapMax = 4096;

/** The beginning of an answer was `given` to the model as its own, or it was `asked` to go on, and to say the last words again. */
export type SeamWay = 'given' | 'asked';

/**
 * The words that a model can be told to go on from. White space at their end is refused by some, and half of a character by all:
 * either may be said again, or left out.
 */
export function firmPart(said: string): string {
  let end = said.length;
  // One step for each character: a pattern that is tied to the end would begin anew at every space before it.
  while (end > 0 && /[\s\ud800-\udbff]/.test(said[end - 1] ?? '')) end--;
  return said.slice(0, end);
}

/**
 * Joins what a model says to what another has said before it. What it repeats is left out, be it the last words or all of them;
 * where it was asked to go on and repeats nothing, nothing shows that it does.
 */
export class Seam {
  readonly #said: string;
  /** The end of what has been said, behind that. */
  readonly #loose: string;
  readonly #way: SeamWay;
  /** The words that wait as long as it is open where they belong; null once that is known. */
  #held: string | null = '';
  /** The places in `said` where the held words may stand; null before they have been looked up. */
  #places: readonly number[] | null = null;
  /** The place in `said` where an overlap began that reaches its end, the longest so far. */
  #joinsAt: number | null = null;
  /** How much of that has been said again; null when something else has come. */
  #looseAt: number | null = 0;
  hasFailed = false;

  constructor(said: string, way: SeamWay) {
    this.#said = firmPart(said);
    this.#loose = said.slice(this.#said.length);
    this.#way = way;
  }

  /** Takes what the model says next, and gives what is new of it. */
  take(text: string): string {
    if (this.hasFailed) return '';
    if (this.#held === null) return this.#afterLoose(text);
    return this.#way === 'given' ? this.#takeGiven(this.#held, text) : this.#takeAsked(this.#held, text);
  }

  /** The model has said everything: what was held back. */
  end(): string {
    const held = this.#held;
    if (held === null || this.hasFailed) return '';
    if (this.#way === 'given') return this.#join(held);
    const isRepeated = this.#said.endsWith(held) && held.length >= this.#overlapMin;
    return isRepeated || this.#joinsAt !== null ? this.#joinAsked(held) : this.#fail();
  }

  get isOpen(): boolean {
    return this.#held !== null;
  }

  get #overlapMin(): number {
    return Math.min(overlapMin, this.#said.length);
  }

  /** It is trusted to go on, unless it begins anew, and that shows by all that has been said. */
  #takeGiven(before: string, text: string): string {
    const held = before + text;
    const said = this.#said;
    if (said.length >= restartMin) {
      if (held.length <= said.length && said.startsWith(held)) return this.#hold(held);
      if (held.startsWith(said)) return this.#join(held.slice(said.length));
    }
    return this.#join(held);
  }

  #takeAsked(before: string, text: string): string {
    // White space before an answer says nothing of where it goes on.
    const held = before === '' ? text.trimStart() : before + text;
    if (held.length < this.#overlapMin) return this.#hold(held);
    if (this.#places === null) this.#lookUp(held);
    else this.#follow(before.length, held.slice(before.length));
    if (this.#places?.length) return this.#hold(held);
    return this.#joinsAt === null ? this.#fail() : this.#joinAsked(held);
  }

  /** Finds where the first words have been said, the latest places first, and if they go beyond the end at once. */
  #lookUp(held: string): void {
    const said = this.#said;
    const places: number[] = [];
    for (let at = said.lastIndexOf(held); at !== -1 && places.length < placesMax; ) {
      places.push(at);
      at = at === 0 ? -1 : said.lastIndexOf(held, at - 1);
    }
    if (said.startsWith(held) && !places.includes(0)) places.push(0);
    this.#places = places.filter((at) => at + held.length < said.length);
    if (held.startsWith(said)) {
      this.#joinsAt = 0;
      return;
    }
    for (
      let length = Math.min(held.length, said.length, firstOverlapMax);
      length >= this.#overlapMin;
      length--
    ) {
      if (!said.endsWith(held.slice(0, length))) continue;
      this.#joinsAt = said.length - length;
      return;
    }
  }

  /** The places where the words go on as they have been said; one that reaches the end is a join. */
  #follow(length: number, text: string): void {
    const said = this.#said;
    const places: number[] = [];
    for (const at of this.#places ?? []) {
      const rest = said.length - at - length;
      if (text.length < rest ? said.startsWith(text, at + length) : false) places.push(at);
      else if (text.length >= rest && text.startsWith(said.slice(at + length)))
        this.#joinsAt = Math.min(this.#joinsAt ?? at, at);
    }
    this.#places = places;
  }

  #joinAsked(held: string): string {
    const at = this.#joinsAt ?? this.#said.length - held.length;
    return this.#join(held.slice(this.#said.length - at));
  }

  #hold(held: string): string {
    this.#held = held;
    return '';
  }

  #join(rest: string): string {
    this.#held = null;
    return this.#afterLoose(rest);
  }

  #fail(): string {
    this.hasFailed = true;
    return '';
  }

  /** Leaves out of it what has been said already: as much of the white space as comes again, and half of a character. */
  #afterLoose(text: string): string {
    let at = 0;
    while (this.#looseAt !== null && at < text.length) {
      if (this.#looseAt < this.#loose.length && text[at] === this.#loose[this.#looseAt]) {
        at++;
        this.#looseAt++;
        continue;
      }
      // White space may be left out; a character begun must be said whole.
      if (this.#looseAt < this.#loose.length - 1 && isHalf(text[at]) && text[at] === this.#loose.at(-1)) at++;
      this.#looseAt = null;
    }
    return text.slice(at);
  }
}

function isHalf(character = ''): boolean {
  return /[\ud800-\udbff]/.test(character);
}
