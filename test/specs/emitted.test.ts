import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Feature, openProtocolSite, type ProtocolSite, upstreams } from '../support/protocol-site.ts';
import { whereFound } from '../support/reference.ts';
import { amendments } from './amendments.ts';
import { ask, framesOf } from './ask.ts';
import { descriptionFiles, PublishedSchemas } from './published-schemas.ts';
import { surfaces } from './surfaces.ts';

const features: readonly Feature[] = [
  'plain',
  'tools',
  'thinking',
  'thinking-tools',
  'refused',
  'short',
  'schema',
];

let site: ProtocolSite;

beforeAll(async () => {
  site = await openProtocolSite();
});
afterAll(async () => site[Symbol.asyncDispose]());

const described = Object.entries(surfaces).flatMap(([name, surface]) =>
  surface.descriptions.map((description) => ({ name, surface, ...description })),
);

function holdEverything(): void {
  describe.each(described)('$name as $description has it', ({ surface, ...names }) => {
    const schemas = new PublishedSchemas(names.description);
    const foreign = upstreams.filter((upstream) => upstream !== surface.protocol);
    const cases = foreign.flatMap((upstream) => features.map((feature) => [upstream, feature] as const));

    test.each(cases)('on %s: %s', async (...wanted) => {
      const whole = await ask(site, surface, wanted, false);
      expect(whole).toMatchObject({ status: 200, isWhole: true });
      expect(schemas.errors(names.whole, JSON.parse(whole.text))).toEqual([]);
      const frames = framesOf((await ask(site, surface, wanted, true)).text);
      expect(frames.length).toBeGreaterThan(1);
      expect(frames.flatMap((frame) => schemas.frameErrors(names.frame, frame))).toEqual([]);
    });

    test('finds what is not right', async () => {
      const { text } = await ask(site, surface, [foreign[0] ?? 'responses', 'plain'], false);
      expect(
        schemas.errors(
          names.whole,
          JSON.parse(text, (key, value: unknown) => (key === '' ? value : 7)),
        ),
      ).not.toEqual([]);
    });
  });

  test.each(amendments)('$description is amended only where it must be: $schema', (amendment) => {
    const { description, schema, path, example } = amendment;
    const published = new PublishedSchemas(description, []);
    const amended = new PublishedSchemas(description, [amendment]);
    expect(published.errors(schema, example, path)).not.toEqual([]);
    expect(amended.errors(schema, example, path)).toEqual([]);
  });
}

whereFound('what is emitted is as it is published', descriptionFiles, holdEverything);
