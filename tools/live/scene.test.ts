import { expect, test } from 'vitest';
import { cheapestOfAllModels, drawScene, type Scene } from './scene.ts';
import { surfaceAt, surfaces } from './surface.ts';

const seeds = [1, 2, 3, 4, 5];

function serving({ channels }: Scene, model: string) {
  return channels.filter(({ models }) => models.includes(model));
}

test.each(seeds)('every model has ten channels, of seed %i', (seed) => {
  const scene = drawScene(seed);
  expect(scene.channels).toHaveLength(60);
  for (const { id } of scene.models) expect(serving(scene, id)).toHaveLength(10);
});

test.each(seeds)('the cheapest of every model are hit and a healthy one is left, of seed %i', (seed) => {
  const scene = drawScene(seed);
  const hit = cheapestOfAllModels(scene, 3).map((place) => scene.channels[place]);
  for (const { id } of scene.models) {
    const byCost = serving(scene, id).sort((a, b) => a.costShare - b.costShare);
    expect(byCost.slice(0, 3).every((channel) => hit.includes(channel))).toBe(true);
    expect(byCost.some((channel) => !hit.includes(channel))).toBe(true);
  }
});

test('an incident that leaves a model without a channel is refused', () => {
  expect(() => cheapestOfAllModels(drawScene(1), 10)).toThrow('no healthy channel');
});

test('surfaces come by their shares', () => {
  const drawn = Array.from({ length: 100 }, (_, place) => surfaceAt((place + 0.5) / 100));
  for (const surface of surfaces)
    expect(drawn.filter((each) => each === surface)).toHaveLength(surface.share);
});
