export { faultNames } from './command/fault.ts';
export type { Clock } from './server/clock.ts';
export type { RequestOutcome, SimulatedRequest } from './server/request-log.ts';
export type { Simulator, SimulatorControl, SimulatorOptions } from './simulator.ts';
export { startSimulator } from './simulator.ts';
export type { FleetMember, SimulatorFleet } from './simulator-fleet.ts';
export { startSimulatorFleet } from './simulator-fleet.ts';
export type { SimulatorWorker, WorkerOptions } from './simulator-worker.ts';
export { startSimulatorWorker } from './simulator-worker.ts';
