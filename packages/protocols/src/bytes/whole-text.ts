/**
 * The beginning of a text, of at most so many UTF-16 units: no pair of surrogates is cut apart, and one without its other half is
 * U+FFFD, so that what goes on with it (headers, addresses, the store) neither throws nor changes it.
 */
export function beginningOf(text: string, unitsMax: number): string {
  if (text.length <= unitsMax) return text.toWellFormed();
  const last = text.charCodeAt(unitsMax - 1);
  const next = text.charCodeAt(unitsMax);
  const cutsPair = isHigh(last) && next >= 0xdc00 && next <= 0xdfff;
  return text.slice(0, cutsPair ? unitsMax - 1 : unitsMax).toWellFormed();
}

function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}
