export { faultNames } from './command/command.ts';
export type { Clock } from './server/clock.ts';
export type { RequestOutcome, SimulatedRequest } from './server/request-log.ts';
export type { Simulator, SimulatorControl, SimulatorOptions } from './simulator.ts';
export { startSimulator } from './simulator.ts';
export type { FleetMember, SimulatorFleet, SimulatorWorker } from './simulator-fleet.ts';
export { LazySimulator, startSimulatorFleet, startSimulatorWorker } from './simulator-fleet.ts';
