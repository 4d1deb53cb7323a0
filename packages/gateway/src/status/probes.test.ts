import { beforeEach, expect, test } from 'vitest';
import { modelOf, priceOf, targetOf } from '../catalogue/catalogue.fixture.ts';
import type { Catalogue, Model, Target } from '../catalogue/catalogue.ts';
import { type CellCounts, cellMs } from '../ports/status.ts';
import type { Outcome } from '../route/outcome.ts';
import { StatusProbes } from './probes.ts';
import { StatusTally } from './tally.ts';

const answered: Outcome = { kind: 'answered', reading: null as never };
const unreachable: Outcome = { kind: 'unreachable', detail: 'refused', sent: false };
const missing = {
  kind: 'refused',
  refusal: { kind: 'model-missing', message: 'no' },
  retryAfterMs: null,
} as Outcome;
/** Probes of a cell are sent behind this. */
const windowMs = 200_000;

let asked: { readonly target: Target; readonly model: Model }[];
let tally: StatusTally;
let isFree: boolean;
beforeEach(() => {
  asked = [];
  tally = new StatusTally(() => true);
  isFree = true;
});

function probesOf(perCell = 25, startedAtMs = 0): StatusProbes {
  const ask = (target: Target, model: Model): boolean => {
    if (isFree) asked.push({ target, model });
    return isFree;
  };
  return new StatusProbes(ask, tally, perCell, startedAtMs);
}

const catalogueOf = (...models: readonly Model[]) =>
  ({ models: new Map(models.map((model) => [model.id, model])) }) as unknown as Catalogue;

const enough = (kind: 'model' | 'channel', name: string, changes: Partial<CellCounts> = {}): CellCounts => ({
  ...{ kind, name, startMs: 0, good: 20, bad: 0, probesGood: 0, probesBad: 0, spread: '' },
  ...changes,
});

const names = () => asked.map(({ target, model }) => `${model.id}@${target.channel.id}`);

/** What the probes said, as `kind name: good/bad`. */
const counted = () =>
  tally.take().map(({ kind, name, probesGood, probesBad }) => `${kind} ${name}: ${probesGood}/${probesBad}`);

test('counts are wanted once in the last part of each cell, and not of a cell that began before the process', () => {
  const probes = probesOf(25, 1000);
  const wanted = [windowMs, cellMs + windowMs - 1, cellMs + windowMs, cellMs + 285_000].map((nowMs) =>
    probes.wantsCounts(nowMs),
  );
  expect(wanted).toEqual([false, false, true, false]);
  probes.choose(catalogueOf(), [], cellMs + windowMs);
  expect(probes.wantsCounts(cellMs + windowMs + 1000)).toBe(false);
  expect(probes.wantsCounts(2 * cellMs + windowMs)).toBe(true);
  expect(probesOf(0).wantsCounts(windowMs)).toBe(false);
});

test('what another process asks is not asked again', () => {
  const probes = probesOf();
  probes.choose(catalogueOf(modelOf([targetOf({ id: 'a' })])), null, windowMs);
  probes.tick(windowMs);
  expect(probes.wantsCounts(windowMs + 1000)).toBe(false);
  expect(asked).toEqual([]);
});

test('a model is asked where it, or a channel of it, has few calls: such channels first', () => {
  const many = modelOf([targetOf({ id: 'a' })], 'many');
  const few = modelOf([targetOf({ id: 'a' }), targetOf({ id: 'b' })], 'few');
  const probes = probesOf();
  const counts = [enough('model', 'many'), enough('channel', 'a'), enough('model', 'few', { good: 19 })];
  probes.choose(catalogueOf(many, few), counts, windowMs);
  probes.tick(windowMs);
  expect(names()).toEqual(['few@b']);
  asked = [];
  probes.choose(catalogueOf(many, few), [enough('channel', 'a'), enough('model', 'many')], cellMs + windowMs);
  probes.tick(cellMs + windowMs);
  expect(names()).toEqual(['few@b']);
});

test('what is off, dear or not offered is not asked', () => {
  const off = modelOf([targetOf({ id: 'a', enabled: false })], 'off');
  const dear = modelOf([targetOf({ id: 'b', cost: priceOf(100_000_000n) })], 'dear');
  const hidden = { ...modelOf([targetOf({ id: 'c' })], 'hidden'), isOffered: false };
  const probes = probesOf();
  probes.choose(catalogueOf(off, dear, hidden), [], windowMs);
  probes.tick(windowMs);
  expect(asked).toEqual([]);
});

test('targets are asked one after the other until one answers: the model is well, and each channel what it said', () => {
  const model = modelOf(
    ['a', 'b', 'c', 'd'].map((id) => targetOf({ id })),
    'm',
  );
  const probes = probesOf();
  probes.choose(catalogueOf(model), [], windowMs);
  for (const outcome of [unreachable, unreachable, answered]) {
    probes.tick(windowMs);
    const { target } = asked.at(-1) ?? { target: targetOf({ id: 'none' }) };
    probes.probed(target, 'm', outcome, windowMs);
  }
  probes.tick(windowMs);
  expect(names()).toEqual(['m@a', 'm@b', 'm@c']);
  expect(counted()).toEqual(['model m: 1/0', 'channel a: 0/1', 'channel b: 0/1', 'channel c: 1/0']);
});

test('a model that none of three targets answers for is not well; one that nobody knows is not spoken of', () => {
  const model = modelOf(
    ['a', 'b', 'c', 'd'].map((id) => targetOf({ id })),
    'm',
  );
  const other = modelOf([targetOf({ id: 'e' })], 'other');
  const probes = probesOf();
  probes.choose(catalogueOf(model, other), [], windowMs);
  for (let round = 0; round < 4; round++) {
    asked = [];
    probes.tick(windowMs);
    for (const { target, model: of } of [...asked])
      probes.probed(target, of.id, of.id === 'm' ? unreachable : missing, windowMs);
  }
  expect(counted()).toEqual(['model m: 0/1', 'channel a: 0/1', 'channel b: 0/1', 'channel c: 0/1']);
});

test('a probe that somebody else sent tells of its channel, and of its model only where it went well', () => {
  const probes = probesOf();
  probes.probed(targetOf({ id: 'a' }), 'm', unreachable, windowMs);
  expect(counted()).toEqual(['channel a: 0/1']);
  probes.probed(targetOf({ id: 'a' }), 'm', answered, windowMs);
  expect(counted()).toEqual(['model m: 1/0', 'channel a: 1/0']);
});

test('no more are asked in a cell than may be: those that were asked longest ago come first', () => {
  const models = ['1', '2', '3'].map((id) => modelOf([targetOf({ id: `channel-${id}` })], id));
  const probes = probesOf(2);
  for (let cell = 0; cell < 3; cell++) {
    const nowMs = cell * cellMs + windowMs + cell;
    probes.choose(catalogueOf(...models), [], nowMs);
    probes.tick(nowMs);
    for (const { target, model } of asked) probes.probed(target, model.id, answered, nowMs);
  }
  expect(asked.map(({ model }) => model.id)).toEqual(['1', '2', '3', '1', '2', '1']);
});

test('what cannot be asked now is asked later, and not any more when the cell is over', () => {
  const probes = probesOf();
  isFree = false;
  const model = modelOf([targetOf({ id: 'a' })], 'm');
  probes.choose(catalogueOf(model), [], windowMs);
  probes.tick(windowMs);
  isFree = true;
  probes.tick(windowMs + 1000);
  expect(names()).toEqual(['m@a']);
  isFree = false;
  probes.choose(catalogueOf(model), [], cellMs + windowMs);
  probes.tick(cellMs + windowMs);
  isFree = true;
  probes.tick(2 * cellMs);
  expect(names()).toEqual(['m@a']);
});
