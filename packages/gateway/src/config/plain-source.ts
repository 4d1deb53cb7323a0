import type { YamlPath, YamlSource } from './yaml-source.ts';

/** Values that were written elsewhere than in YAML, with the place of each: words of a command line, cells of a table. */
export function plainSource(plain: unknown, where: (path: YamlPath) => string): YamlSource {
  return {
    plain,
    where,
    whereName: (path, name) => where([...path, name]),
    exactText: (path) => {
      const value = path.reduce<unknown>(memberOf, plain);
      return value === undefined || value === null || typeof value === 'object' ? null : String(value);
    },
  };
}

function memberOf(value: unknown, step: string | number): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  return Object.entries(value).find(([name]) => name === String(step))?.[1];
}
