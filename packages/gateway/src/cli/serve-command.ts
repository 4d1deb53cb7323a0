import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { fail, type Result, succeed } from '@headgate/protocols';
import { bannerText } from '../admin/banner.ts';
import { setUpLink } from '../admin/people/set-up.ts';
import { type ReadyFacts, readyFileText, showcaseModels } from '../admin/ready-file.ts';
import { type Restart, removeServingFile, writeServingFile } from '../admin/serving.ts';
import { type ConfigurationProblem, describeProblem } from '../config/yaml-source.ts';
import type { Settings } from '../config.ts';
import type { RunningGateway, Sockets } from '../main.ts';
import { type CommandContext, command, type ExitReason, jsonText, printFailure } from './command.ts';
import { loadCommandSettings } from './command-settings.ts';
import { type Addresses, Guardian, ownIncumbent } from './guardian.ts';
import { reachable } from './running-gateway.ts';
import { type GuardianLine, openGuardianLine, socketNames } from './successor.ts';

export const serveCommand = command({
  name: 'serve',
  summary: 'Run the gateway until it is told to stop',
  showsSettings: true,
  run: serve,
});

async function serve(context: CommandContext): Promise<ExitReason> {
  const line = openGuardianLine(context.environment);
  const stops = [context.stopping(), ...(line === null ? [] : [line.stop])];
  const giveUp = (reason: ExitReason, messages: readonly string[]): ExitReason => {
    printFailure(context.output, messages);
    line?.failed(messages.join('; '));
    return reason;
  };
  try {
    const succession = new Succession(line);
    const started = await start(context, succession);
    if (!started.ok) return giveUp('configuration', started.error.map(describeProblem));
    return await serveUntilStopped(context, succession, started.value, AbortSignal.any(stops));
  } catch (error) {
    const reason = startFailure(error);
    if (reason !== null) return giveUp('unavailable', [reason]);
    line?.failed(String(error));
    throw error;
  } finally {
    line?.close();
  }
}

/** The place of this process in a row of those that serve one after the other. */
class Succession {
  /** Null in the first one, which is the guardian of all others. */
  readonly line: GuardianLine | null;
  guardian: Guardian | null = null;

  constructor(line: GuardianLine | null) {
    this.line = line;
  }

  readonly restart: Restart = () =>
    (this.line ?? this.guardian)?.restart() ?? Promise.resolve(fail('it has not started yet'));

  /** The sockets that are still for the addresses of the settings; the others are let go of. */
  async sockets(settings: Settings): Promise<Partial<Sockets>> {
    const lent = (await this.line?.sockets) ?? {};
    const addresses = addressesOf(settings);
    const wanted = socketNames.flatMap((name) => {
      const socket = lent[name]?.socket;
      if (socket === undefined) return [];
      if (lent[name]?.address === addresses[name]) return [[name, socket] as const];
      socket.close();
      return [];
    });
    return Object.fromEntries(wanted);
  }
}

function addressesOf({ apiHost, apiPort, consoleHost, consolePort }: Settings): Addresses {
  return { api: `${apiHost} ${apiPort}`, console: `${consoleHost} ${consolePort}` };
}

interface Serving {
  readonly settings: Settings;
  readonly gateway: RunningGateway;
}

/** The configuration file is read once, and let go of when this ends: with many keys it takes hundreds of megabytes. */
async function start(
  context: CommandContext,
  succession: Succession,
): Promise<Result<Serving, readonly ConfigurationProblem[]>> {
  const loaded = loadCommandSettings(context);
  if (!loaded.ok) return loaded;
  const { settings, file, layers } = loaded.value;
  // Loaded here and not at the top: no other command needs the servers, and each would wait for them.
  const { startGateway } = await import('../main.ts');
  // A file that an earlier process left behind would tell scripts that this one is ready before it is.
  if (succession.line === null) removeReadyFile(settings);
  const sockets = await succession.sockets(settings);
  const { restart } = succession;
  const gateway = await startGateway(settings, context.environment, {
    file,
    layers,
    sockets,
    restart,
  });
  return gateway.ok ? succeed({ settings, gateway: gateway.value }) : gateway;
}

async function serveUntilStopped(
  context: CommandContext,
  succession: Succession,
  { settings, gateway }: Serving,
  stop: AbortSignal,
): Promise<ExitReason> {
  const { line } = succession;
  const self = ownIncumbent(gateway, () => withdraw(settings));
  const guardian = new Guardian(self, addressesOf(settings), gateway.log.logger);
  succession.guardian = guardian;
  const onRestart = (): void => void succession.restart();
  // Whoever hears that it serves may send the signal at once.
  if (hasSignals) process.on(restartSignal, onRestart);
  try {
    announce(context, settings, gateway, line !== null);
  } catch (error) {
    // A gateway that could not be announced must not stay behind, serving without anyone who can stop it.
    process.off(restartSignal, onRestart);
    await gateway.stop();
    throw error;
  }
  line?.ready(self);
  try {
    void stopAsked(stop).then(() => guardian.stop());
    return (await guardian.ended()) === 0 ? 'ok' : 'failed';
  } finally {
    process.off(restartSignal, onRestart);
  }
}

/** Not SIGHUP, which a terminal sends to what runs in it when it is closed. */
const restartSignal = 'SIGUSR2';
/** Windows has none that a program could be sent. */
const hasSignals = process.platform !== 'win32';

/** No one is to find a gateway that takes no more calls. */
function withdraw(settings: Settings): void {
  removeReadyFile(settings);
  removeServingFile(settings.dataDir, process.pid);
}

function announce(
  { output }: CommandContext,
  settings: Settings,
  gateway: RunningGateway,
  isSuccessor: boolean,
): void {
  const { selfConfiguration, catalogue, apiOrigin, consoleOrigin, setUpToken } = gateway;
  const facts: ReadyFacts = {
    apiOrigin,
    consoleOrigin,
    selfConfiguration,
    models: showcaseModels(catalogue.current),
    setupToken: setUpToken,
  };
  if (settings.readyFile !== null) writeReadyFile(settings.readyFile, readyFileText(facts));
  writeServingFile(settings.dataDir, { processId: process.pid, apiOrigin, consoleOrigin });
  // The addresses are those that were printed when the first one started.
  if (isSuccessor) return;
  if (output.json) {
    output.write(`${jsonText({ apiOrigin, consoleOrigin })}\n`);
    return;
  }
  const { channels, models } = catalogue.current;
  const { deploymentName } = settings;
  output.write(
    bannerText({
      ...facts,
      setUpLink:
        setUpToken === null
          ? null
          : setUpLink(settings.consoleOrigin ?? reachable(consoleOrigin), setUpToken),
      deploymentName,
      channelCount: channels.size,
      modelCount: models.size,
      color: output.color,
    }),
  );
}

/** Whoever waits for the file finds it whole: it gets its name last. It may hold keys, so it is its owner's alone. */
function writeReadyFile(path: string, text: string): void {
  writeFileSync(`${path}.draft`, text, { mode: 0o600 });
  renameSync(`${path}.draft`, path);
}

function removeReadyFile({ readyFile }: Settings): void {
  if (readyFile !== null) rmSync(readyFile, { force: true });
}

function stopAsked(stop: AbortSignal): Promise<void> {
  if (stop.aborted) return Promise.resolve();
  return new Promise((resolve) => stop.addEventListener('abort', () => resolve(), { once: true }));
}

/** Failures of a start that the person who made it can mend; null for anything else, which is a bug. */
function startFailure(error: unknown): string | null {
  if (!(error instanceof Error) || !('code' in error)) return null;
  const port = 'port' in error ? String(error.port) : '';
  switch (error.code) {
    case 'EADDRINUSE':
      return `port ${port} is taken; choose others with --api-port and --console-port`;
    case 'EADDRNOTAVAIL':
      return 'an address to listen on is not of this machine; see --api-host and --console-host';
    case 'EACCES':
      return `not permitted: ${error.message}`;
    case 'ENOSPC':
    case 'EROFS':
      return `the data directory cannot be written: ${error.message}`;
    case 'DAMAGED_JOURNAL':
    case 'STORE_UNUSABLE':
      return error.message;
    default:
      return null;
  }
}
