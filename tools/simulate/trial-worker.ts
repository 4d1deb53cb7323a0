import { parentPort } from 'node:worker_threads';
import { runTrial, type Trial } from './trial.ts';

// One trial after the other, each answered by its measures.
parentPort?.on('message', (trial: Trial) => parentPort?.postMessage(runTrial(trial)));
