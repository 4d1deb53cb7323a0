import {
  explainRoute,
  plannerOptions,
  type RouteExplanation,
  type RouteProblem,
  type RouteQuestion,
  readRouteQuestion,
} from '../admin/explain-route.ts';
import { credentialHasher } from '../admin/owner-files.ts';
import { pastRoute } from '../admin/past-route.ts';
import { Router } from '../route/router.ts';
import {
  type Command,
  type CommandContext,
  command,
  type ExitReason,
  printFailure,
  printResult,
} from './command.ts';
import { explanationText, pastRouteText, type SavedState } from './route-text.ts';
import { type Workspace, withWorkspace, workspaceCatalogue } from './workspace.ts';

export const routeCommands: readonly Command[] = [
  command({
    name: 'route explain',
    summary: 'Say where a call would go and why, without making it; or where a past one went',
    options: {
      key: { placeholder: 'KEY', help: 'Who calls: the id of a key, or its name' },
      model: { placeholder: 'ID', help: 'The model that is called' },
      surface: { placeholder: 'NAME', help: 'chat-completions, responses, … (the first of its platform)' },
      stream: { placeholder: null, help: 'The answer is streamed (it is, unless said otherwise)' },
      'no-stream': { placeholder: null, help: 'The answer comes whole' },
      'input-tokens': { placeholder: 'N', help: 'Size of the request (1000)' },
      'max-tokens': { placeholder: 'N', help: 'Limit of the answer, as the caller sets it (none)' },
      needs: {
        placeholder: 'NAMES',
        help: 'What the request contains or asks for, such as tools,image-input',
      },
      session: { placeholder: 'NAME', help: 'The session it belongs to, as x-headgate-session names it' },
      trace: { placeholder: 'ID', help: 'Show how this past call was routed instead' },
    },
    run: (context) => (context.options['trace'] === undefined ? explain(context) : showPast(context)),
  }),
];

function explain(context: CommandContext): Promise<ExitReason> {
  const question = readQuestion(context.options);
  if (typeof question === 'string') {
    printFailure(context.output, [question]);
    return Promise.resolve('usage');
  }
  return withWorkspace(context, async (workspace) => {
    const { catalogue, problems } = await workspaceCatalogue(workspace);
    const nowMs = workspace.clock.now();
    const { router, savedAtMs } = await openSavedRouter(workspace, nowMs);
    const explained = explainRoute(question, { catalogue, router, nowMs });
    if (!explained.ok) {
      printFailure(context.output, [problemText(explained.error)]);
      return 'failed';
    }
    return printExplanation(context, explained.value, { savedAtMs, nowMs, problems });
  });
}

function printExplanation(
  { output }: CommandContext,
  explanation: RouteExplanation,
  state: SavedState,
): ExitReason {
  const savedAt = state.savedAtMs === null ? null : new Date(state.savedAtMs).toISOString();
  printResult(
    output,
    { ...explanation, stateSavedAt: savedAt },
    explanationText(explanation, state, output.color),
  );
  return 'ok';
}

/** A router that knows what the gateway has saved of what its own knows. Nothing is drawn in explaining. */
async function openSavedRouter({ settings, store, peppers }: Workspace, nowMs: number) {
  const router = new Router({
    ...plannerOptions(settings, credentialHasher(peppers)),
    uniform: () => 0.5,
  });
  const states = await store.routerStates.load();
  router.restore(states, nowMs);
  const savedAtMs = states.reduce<number | null>(
    (newest, state) => Math.max(newest ?? 0, state.savedAtMs),
    null,
  );
  return { router, savedAtMs };
}

/** The options of the command that are members of the question under another name. */
const optionOf: Readonly<Record<string, string>> = {
  inputTokens: 'input-tokens',
  maxOutputTokens: 'max-tokens',
};

/** The question, or what is wrong with the asking. */
function readQuestion(options: CommandContext['options']): RouteQuestion | string {
  const { key, model, surface, needs, session } = options;
  if (options['stream'] !== undefined && options['no-stream'] !== undefined)
    return 'write --stream or --no-stream, not both';
  const given = {
    key,
    model,
    surface,
    stream: options['no-stream'] === undefined,
    inputTokens: numberOf(options['input-tokens']),
    maxOutputTokens: numberOf(options['max-tokens']),
    needs: needs?.split(',').map((need) => need.trim()),
    session,
  };
  const read = readRouteQuestion(given);
  return read.ok ? read.value : read.error.map(problemText).join('; ');
}

function numberOf(text: string | undefined): number | undefined {
  return text === undefined ? undefined : text.trim() === '' ? Number.NaN : Number(text);
}

function problemText({ field, message }: RouteProblem): string {
  return `--${optionOf[field] ?? field}: ${message}`;
}

function showPast(context: CommandContext): Promise<ExitReason> {
  const { options, output } = context;
  const trace = options['trace'] ?? '';
  const other = Object.keys(options).find((name) => !['trace', 'json'].includes(name));
  if (other !== undefined) {
    printFailure(output, [`--trace shows a call that was made, so it takes no --${other}`]);
    return Promise.resolve('usage');
  }
  return withWorkspace(context, async ({ store }) => {
    const record = await store.findEntry(trace);
    if (record === null) {
      printFailure(output, [
        `--trace: there is no call "${trace}"; every answer bears its own in x-trace-id`,
      ]);
      return 'failed';
    }
    const past = pastRoute(record);
    printResult(output, past, pastRouteText(past, output.color));
    return 'ok';
  });
}
