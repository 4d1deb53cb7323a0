import { FaultGate, seededRandom } from './fault-gate.ts';
import { Responder } from './responder.ts';
import type { Clock } from './server/clock.ts';
import { systemClock } from './server/clock.ts';
import { Listener } from './server/listener.ts';
import type { SimulatedRequest } from './server/request-log.ts';
import { RequestLog } from './server/request-log.ts';

export interface SimulatorOptions {
  /** 0, the default, takes any free port. */
  readonly port?: number;
  /** The address listened on; 127.0.0.1 by default. */
  readonly host?: string;
  /** The command every request starts from; see `SimulatorControl.setScript`. */
  readonly script?: string;
  /** Seed of the draws for `share`: the same seed and the same requests meet the same faults. */
  readonly seed?: number;
  /** Requests kept in `requests`; 256 by default. */
  readonly requestsKept?: number;
  /**
   * Answers each model name with the same bytes, prepared once: the cheapest upstream there is, for benchmarks.
   * Requests are not parsed; `setScript` and `x-simulate` come too late for answers already prepared.
   */
  readonly fixed?: boolean;
  readonly clock?: Clock;
}

/** Out-of-band control of one simulator, for what no request could ask for. */
export interface SimulatorControl {
  /** Replaces the command every request starts from. Throws on a command that cannot be read. */
  setScript(command: string): void;
  /** Refuses connections from now on and resets the open ones. */
  goDown(): Promise<void>;
  /** Listens on the same port again. */
  comeUp(): Promise<void>;
  /** Closes connections no request is using, as servers with a short keep-alive do. */
  closeIdleConnections(): void;
}

export interface Simulator {
  /** `http://127.0.0.1:PORT`, without a path. */
  readonly origin: string;
  /** The latest requests, oldest first. */
  readonly requests: readonly SimulatedRequest[];
  /** Requests ever received. */
  readonly requestCount: number;
  /** The first kept request that matches, now or once one does. */
  until(matches: (request: SimulatedRequest) => boolean): Promise<SimulatedRequest>;
  readonly control: SimulatorControl;
  close(): Promise<void>;
}

/** Starts an upstream that answers by command. Rejects when the port is taken. */
export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const host = options.host ?? '127.0.0.1';
  const clock = options.clock ?? systemClock();
  const log = new RequestLog(options.requestsKept ?? 256);
  const responder = new Responder(clock, new FaultGate(seededRandom(options.seed ?? 1)));
  responder.setScript(options.script ?? '');
  const respond = options.fixed === true ? responder.fixedAnswers() : responder.respond.bind(responder);
  const listener = new Listener({ clock, log, respond });
  const port = await listener.open(options.port ?? 0, host);
  return {
    origin: `http://${host}:${port}`,
    requests: log.entries,
    get requestCount() {
      return log.count;
    },
    until: (matches) => log.until(matches),
    control: {
      setScript: (command) => responder.setScript(command),
      goDown: async () => listener.close(),
      comeUp: async () => void (await listener.open(port, host)),
      closeIdleConnections: () => listener.closeIdle(),
    },
    close: async () => listener.close(),
  };
}
