import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { type Result, succeed } from '@headgate/protocols';
import { bannerText } from '../admin/banner.ts';
import { type ReadyFacts, readyFileText, showcaseModels } from '../admin/ready-file.ts';
import { loadSettings } from '../config/load-settings.ts';
import { type ConfigurationProblem, describeProblem } from '../config/yaml-source.ts';
import type { Settings } from '../config.ts';
import type { RunningGateway } from '../main.ts';
import { type CommandContext, command, type ExitReason, jsonText, printFailure } from './command.ts';

export const serveCommand = command({
  name: 'serve',
  summary: 'Run the gateway until it is told to stop',
  showsSettings: true,
  run: serve,
});

async function serve(context: CommandContext): Promise<ExitReason> {
  try {
    const started = await start(context);
    if (!started.ok) {
      printFailure(context.output, started.error.map(describeProblem));
      return 'configuration';
    }
    await serveUntilStopped(context, started.value.settings, started.value.gateway);
    return 'ok';
  } catch (error) {
    const reason = startFailure(error);
    if (reason === null) throw error;
    printFailure(context.output, [reason]);
    return 'unavailable';
  }
}

interface Serving {
  readonly settings: Settings;
  readonly gateway: RunningGateway;
}

/** The configuration file is read once, and let go of when this ends: with many keys it takes hundreds of megabytes. */
async function start(context: CommandContext): Promise<Result<Serving, readonly ConfigurationProblem[]>> {
  const loaded = loadSettings(context.flags, context.environment, context.directory);
  if (!loaded.ok) return loaded;
  const { settings, file } = loaded.value;
  // Loaded here and not at the top: no other command needs the servers, and each would wait for them.
  const { startGateway } = await import('../main.ts');
  // A file that an earlier process left behind would tell scripts that this one is ready before it is.
  removeReadyFile(settings);
  const gateway = await startGateway(settings, context.environment, {}, file);
  return gateway.ok ? succeed({ settings, gateway: gateway.value }) : gateway;
}

async function serveUntilStopped(
  context: CommandContext,
  settings: Settings,
  gateway: RunningGateway,
): Promise<void> {
  // A gateway that could not be announced must not stay behind, serving without anyone who can stop it.
  try {
    announce(context, settings, gateway);
    await stopAsked(context.stop);
    removeReadyFile(settings);
  } finally {
    await gateway.stop();
  }
}

function announce({ output }: CommandContext, settings: Settings, gateway: RunningGateway): void {
  const { selfConfiguration, catalogue } = gateway;
  const facts: ReadyFacts = {
    apiOrigin: gateway.apiOrigin,
    consoleOrigin: gateway.consoleOrigin,
    selfConfiguration,
    models: showcaseModels(catalogue.current),
    setupToken: null,
  };
  if (settings.readyFile !== null) writeReadyFile(settings.readyFile, readyFileText(facts));
  if (output.json) {
    output.write(`${jsonText({ apiOrigin: facts.apiOrigin, consoleOrigin: facts.consoleOrigin })}\n`);
    return;
  }
  const { channels, models } = catalogue.current;
  const { deploymentName } = settings;
  output.write(
    bannerText({
      ...facts,
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
      return error.message;
    default:
      return null;
  }
}
