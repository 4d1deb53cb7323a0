import { expect, test } from 'vitest';
import { Circuit } from './circuit.ts';
import { TargetHealth } from './health.ts';

const middle = () => 0.5;

/** A circuit and its target, with the time they are at. */
class Scene {
  readonly circuit = new Circuit();
  readonly health = new TargetHealth();
  nowMs = 0;

  fail(weight = 2, startMs = this.nowMs, lostMs = 100): this {
    this.health.failed(this.nowMs, weight, lostMs);
    this.circuit.failed(this.nowMs, startMs, weight, this.health, middle);
    return this;
  }

  succeed(startMs = this.nowMs): this {
    this.health.succeeded(this.nowMs);
    this.circuit.succeeded(this.nowMs, startMs, this.health);
    return this;
  }

  wait(durationMs: number): this {
    this.nowMs += durationMs;
    return this;
  }

  get state() {
    return this.circuit.state(this.nowMs);
  }
}

test('three refused connections open it, for five seconds', () => {
  const scene = new Scene().fail().fail();
  expect(scene.state).toBe('closed');
  expect(scene.fail().state).toBe('open');
  expect(scene.wait(4999).state).toBe('open');
  expect(scene.wait(1).state).toBe('due');
});

test('a success in between begins the run anew, one that was sent before the run does not', () => {
  const used = () => {
    const scene = new Scene();
    for (let n = 0; n < 20; n++) scene.succeed();
    return scene.wait(10).fail().fail();
  };
  expect(used().succeed().fail().fail().state).toBe('closed');
  expect(used().succeed(5).fail().state).toBe('open');
});

test('most calls failing opens it without a run', () => {
  const scene = new Scene();
  for (let n = 0; n < 10 && scene.state === 'closed'; n++) scene.fail(1).fail(1).succeed();
  expect(scene.state).not.toBe('closed');
});

test('where failing is usual, five in a row are no surprise', () => {
  const scene = new Scene();
  for (let n = 0; n < 60; n++) (n % 3 === 0 ? scene.fail(1) : scene.succeed()).wait(300);
  for (let n = 0; n < 5; n++) scene.fail(1);
  expect(scene.state).toBe('closed');
});

test('of a busy target a longer run is expected', () => {
  const runOf = (calls: number) => {
    const scene = new Scene();
    for (let n = 0; n < calls; n++) (n % 3 === 0 ? scene.fail(1) : scene.succeed()).wait(1);
    let run = 0;
    for (; scene.state === 'closed'; run++) scene.fail(1);
    return run;
  };
  expect(runOf(600)).toBeGreaterThan(runOf(30));
});

test('one probe at a time, three successes close, and each failure doubles the time out', () => {
  const scene = new Scene().fail().fail().fail().wait(5000);
  scene.circuit.sent(scene.nowMs);
  expect(scene.state).toBe('probing');
  expect(scene.fail().state).toBe('open');
  expect(scene.wait(9999).state).toBe('open');
  expect(scene.wait(1).state).toBe('due');
  expect(scene.succeed().circuit.isPromising).toBe(true);
  expect(scene.succeed().state).toBe('due');
  expect(scene.succeed().state).toBe('closed');
  expect(scene.circuit.slowStart(scene.nowMs)).toBe(2);
  expect(scene.circuit.slowStart(scene.nowMs + 20_000)).toBe(1);
});

test.each([
  [100, 60_000],
  [20_000, 300_000],
])('failures of %d ms: never out for longer than %d ms', (lostMs, longestMs) => {
  const scene = new Scene();
  for (let n = 0; n < 3; n++) scene.fail(2, scene.nowMs, lostMs);
  for (let n = 0; n < 12; n++) scene.wait(longestMs).fail(2, scene.nowMs, lostMs);
  expect(scene.wait(longestMs - 1).state).toBe('open');
  expect(scene.wait(1).state).toBe('due');
});

test('what was sent before an ejection decides nothing after it', () => {
  const scene = new Scene().wait(1000).fail().fail().fail();
  for (let n = 0; n < 3; n++) scene.succeed(999);
  expect(scene.state).toBe('open');
  expect(scene.wait(5000).fail(2, 999).state).toBe('due');
});

test('a probe whose end is never told, or says nothing, leaves the way free', () => {
  const scene = new Scene().fail().fail().fail().wait(5000);
  scene.circuit.sent(scene.nowMs);
  scene.circuit.released();
  expect(scene.state).toBe('due');
  scene.circuit.sent(scene.nowMs);
  expect(scene.wait(180_001).state).toBe('due');
});
