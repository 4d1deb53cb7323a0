import { parentPort, workerData } from 'node:worker_threads';
import type { Simulator } from './simulator.ts';
import { startSimulator } from './simulator.ts';
import type { FleetOrder, FleetReport, FleetWish, WorkerOptions } from './simulator-fleet.ts';

// Only `startSimulatorFleet` starts this thread, and it passes exactly this.
const options = workerData as readonly WorkerOptions[];
const simulators = await Promise.all(options.map((each) => startSimulator({ ...each, requestsKept: 0 })));

parentPort?.on('message', (order: FleetOrder) => {
  // Never rejects: what goes wrong is the report.
  void reportOn(order).then((report) => parentPort?.postMessage(report));
});
parentPort?.postMessage(simulators.map(({ origin }) => origin));

async function reportOn({ id, member, wish }: FleetOrder): Promise<FleetReport> {
  const simulator = simulators[member];
  if (simulator === undefined) return { id, requestCount: 0, problem: `there is no simulator ${member}` };
  try {
    await grant(simulator, wish);
    return { id, requestCount: simulator.requestCount, problem: null };
  } catch (error) {
    return { id, requestCount: simulator.requestCount, problem: String(error) };
  }
}

async function grant({ control }: Simulator, wish: FleetWish): Promise<void> {
  switch (wish.kind) {
    case 'set-script':
      return control.setScript(wish.command);
    case 'go-down':
      return control.goDown();
    case 'come-up':
      return control.comeUp();
    case 'count':
      return;
  }
}
