/** The known name that was probably meant, or null when none is near enough to be worth saying. */
function suggest(given: string, known: Iterable<string>): string | null {
  const limit = Math.max(1, Math.floor(given.length * 0.4));
  let best: string | null = null;
  let bestDistance = limit + 1;
  for (const name of known) {
    if (Math.abs(name.length - given.length) >= bestDistance) continue;
    const distance = editDistance(given.toLowerCase(), name.toLowerCase());
    if (distance < bestDistance) [best, bestDistance] = [name, distance];
  }
  return best;
}

/** `; did you mean "x"?`, or nothing: to be appended to a complaint about an unknown name. */
export function didYouMean(given: string, known: Iterable<string>): string {
  const name = suggest(given, known);
  return name === null ? '' : `; did you mean "${name}"?`;
}

/** Levenshtein distance, one row at a time. */
function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const substitution = (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      row.push(Math.min(substitution, (previous[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1));
    }
    previous = row;
  }
  return previous[b.length] ?? 0;
}
