import { parseArgs } from 'node:util';
import { startSimulator } from './simulator.ts';

const help = `Usage: node packages/simulator/src/main.ts [options]

An upstream that answers by command. The commands are in packages/simulator/README.md.

  --port N        port to listen on (default 0: any free one)
  --host ADDRESS  address to listen on (default 127.0.0.1)
  --script TEXT   the command every request starts from, such as 'ttft=200ms,rate=50/s'
  --seed N        seed of the draws for share= (default 1)
  --fixed         answer each model name with the same prepared bytes, for benchmarks
  --help          show this`;

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '0' },
    host: { type: 'string', default: '127.0.0.1' },
    script: { type: 'string', default: '' },
    seed: { type: 'string', default: '1' },
    fixed: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

if (values.help) {
  console.log(help);
} else {
  const { host, script, fixed } = values;
  const options = { port: Number(values.port), host, script, seed: Number(values.seed), fixed };
  const simulator = await startSimulator(fixed ? { ...options, requestsKept: 0 } : options);
  console.log(`simulator listening on ${simulator.origin}`);
  process.once('SIGTERM', () => void simulator.close());
  process.once('SIGINT', () => void simulator.close());
}
