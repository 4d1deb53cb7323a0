import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type Feature,
  modelOf,
  openProtocolSite,
  type ProtocolSite,
  upstreams,
} from '../support/protocol-site.ts';
import { amendments } from './amendments.ts';
import { missingDescriptions, PublishedSchemas } from './published-schemas.ts';
import { type Described, type Surface, surfaces } from './surfaces.ts';

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

async function ask(surface: Surface, model: string, feature: Feature, stream: boolean): Promise<string> {
  const key = site.gateway.keys[surface.platform];
  const authorization = surface.keyHeader === 'authorization' ? `Bearer ${key}` : key;
  const answer = await fetch(site.gateway.apiOrigin + surface.path(model, stream), {
    method: 'POST',
    headers: { 'content-type': 'application/json', [surface.keyHeader]: authorization },
    body: JSON.stringify(surface.body(model, feature, stream)),
  });
  const text = await answer.text();
  expect(answer.status, text).toBe(200);
  return text;
}

function framesOf(stream: string): readonly unknown[] {
  const data = [...stream.matchAll(/^data: ?(.*?)\r?$/gm)].map(([, text = '']) => text);
  return data.filter((text) => text !== '[DONE]').map((text): unknown => JSON.parse(text));
}

function errorsOfFrame(schemas: PublishedSchemas, { frame }: Described, value: unknown): readonly string[] {
  const type = typeof value === 'object' && value !== null && 'type' in value ? value.type : null;
  const schema = frame ?? schemas.eventOfType(type);
  return schema === undefined ? [`no such event: ${String(type)}`] : schemas.errors(schema, value);
}

const described = Object.entries(surfaces).flatMap(([name, surface]) =>
  surface.descriptions.map((description) => ({ name, surface, ...description })),
);

function holdEverything(): void {
  describe.each(described)('$name as $description has it', ({ surface, ...names }) => {
    const schemas = new PublishedSchemas(names.description);
    const foreign = upstreams.filter((upstream) => upstream !== surface.protocol);
    const cases = foreign.flatMap((upstream) => features.map((feature) => [upstream, feature] as const));

    test.each(cases)('on %s: %s', async (upstream, feature) => {
      const model = modelOf(feature, upstream);
      const whole: unknown = JSON.parse(await ask(surface, model, feature, false));
      expect(schemas.errors(names.whole, whole)).toEqual([]);
      const frames = framesOf(await ask(surface, model, feature, true));
      expect(frames.length).toBeGreaterThan(1);
      expect(frames.flatMap((frame) => errorsOfFrame(schemas, names, frame))).toEqual([]);
    });

    test('finds what is not right', async () => {
      const model = modelOf('plain', foreign[0] ?? 'responses');
      const whole: unknown = JSON.parse(await ask(surface, model, 'plain', false));
      const members = Object.keys(Object(whole)).map((member) => [member, [7]]);
      expect(schemas.errors(names.whole, Object.fromEntries(members))).not.toEqual([]);
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

if (missingDescriptions.length === 0) holdEverything();
else
  test('the published descriptions are not beside this checkout, and nothing is held against them', () => {
    console.warn(`not here: ${missingDescriptions.join(', ')}`);
  });
