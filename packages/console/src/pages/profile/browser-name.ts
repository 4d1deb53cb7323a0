/** Browsers by what their header has in it; the first that is found counts, as most claim to be several. */
const browsers: readonly (readonly [sign: RegExp, name: string])[] = [
  [/Edg\//, 'Edge'],
  [/OPR\//, 'Opera'],
  [/Firefox\//, 'Firefox'],
  [/Chrom(?:e|ium)\//, 'Chrome'],
  [/Safari\//, 'Safari'],
];

const systems: readonly (readonly [sign: RegExp, name: string])[] = [
  [/iPhone|iPad/, 'iOS'],
  [/Android/, 'Android'],
  [/Windows/, 'Windows'],
  [/Mac OS X/, 'macOS'],
  [/Linux/, 'Linux'],
];

/** `Firefox · Linux`, or the beginning of what it calls itself. */
export function browserName(userAgent: string | null): string {
  if (userAgent === null) return '–';
  const named = [browsers, systems].flatMap(
    (table) => table.find(([sign]) => sign.test(userAgent))?.[1] ?? [],
  );
  return named.length === 0 ? userAgent.slice(0, 60) : named.join(' · ');
}
