import { command, type ExitReason, printFailure, printResult } from './command.ts';
import { askGateway } from './running-gateway.ts';
import { withSettings } from './workspace.ts';

export const restartCommand = command({
  name: 'restart',
  summary: 'Put a new process in the place of the one that serves, without turning a caller away',
  run: (context) =>
    withSettings(context, async ({ settings }): Promise<ExitReason> => {
      const answer = await askGateway(settings.dataDir, 'POST', '/api/v1/restart');
      if (answer.ok) {
        const { processId } = answer.value as { readonly processId: number }; // The answer of the console's own route.
        const text = `Process ${processId} serves. Calls that run in the one before it come to their end.`;
        printResult(context.output, { processId }, text);
        return 'ok';
      }
      const { kind, message } = answer.error;
      const isAbsent = kind === 'absent';
      printFailure(context.output, [isAbsent ? message : `nothing has changed: ${message}`]);
      return isAbsent ? 'unavailable' : 'failed';
    }),
});
