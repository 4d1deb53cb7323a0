import { z } from 'zod';
import type { ProtocolId } from '../../packages/protocols/src/index.ts';
import type { Agent, Launch, ScriptCall, Task } from './agent.ts';
import { printedJson } from './printed-json.ts';

const readNote = 'cat note.txt';

/** With a model it does not know: functions, and a namespace of more of them. */
export const codex: Agent = {
  ...commonParts(),
  id: 'codex',
  model: 'headgate-for-codex',
  script: (task) => [run(readNote), [run(writeCopy(task)), run('git status --short')], task.farewell],
};

/** With a model that edits by patches: a custom tool with a grammar, and a search for more tools. */
export const codexPatching: Agent = {
  ...commonParts(),
  id: 'codex, patching',
  model: 'gpt-5.5',
  script: (task, upstream) => [
    run(readNote),
    [patch(task, upstream), run('git status --short')],
    task.farewell,
  ],
};

/** With a model that writes programs: its tools come as an item of the input, and the one it calls is custom. */
export const codexProgramming: Agent = {
  ...commonParts(),
  id: 'codex, programming',
  model: 'gpt-6-sol',
  script: (task, upstream) => [
    execute(readNote, upstream),
    execute(writeCopy(task), upstream),
    task.farewell,
  ],
};

function commonParts() {
  return {
    package: '@openai/codex',
    program: 'bin/codex.js',
    platform: 'completions',
    surface: 'responses',
    launch,
    finalText,
  } as const satisfies Partial<Agent>;
}

function launch({ prompt }: Task, { apiOrigin, key, model }: Parameters<Agent['launch']>[1]): Launch {
  return {
    options: ['exec', '--json', '--dangerously-bypass-approvals-and-sandbox', prompt],
    environment: { HEADGATE_KEY: key },
    homeFiles: { '.codex/config.toml': configuration(apiOrigin, model) },
  };
}

/** `supports_websockets` makes it ask for a socket first, and take 426 as a no. */
function configuration(apiOrigin: string, model: string): string {
  return `model = "${model}"
model_provider = "headgate"
check_for_update_on_startup = false

[model_providers.headgate]
name = "Headgate"
base_url = "${apiOrigin}/v1"
wire_api = "responses"
env_key = "HEADGATE_KEY"
supports_websockets = true
request_max_retries = 0
stream_max_retries = 0

[analytics]
enabled = false
`;
}

const agentMessage = z.object({ item: z.object({ type: z.literal('agent_message'), text: z.string() }) });

/** It prints an event a line. */
function finalText(standardOutput: string): string | null {
  const events = standardOutput.split('\n').map((line) => agentMessage.safeParse(printedJson(line)).data);
  return events.findLast((event) => event !== undefined)?.item.text ?? null;
}

function run(command: string): ScriptCall {
  return { tool: 'exec_command', input: { cmd: command } };
}

function writeCopy({ copyFile, copyText }: Task): string {
  return `printf %s '${copyText}' > '${copyFile}'`;
}

function patch({ copyFile, copyText }: Task, upstream: ProtocolId): ScriptCall {
  const lines = ['*** Begin Patch', `*** Add File: ${copyFile}`, `+${copyText}`, '*** End Patch', ''];
  return { tool: 'apply_patch', input: freeText(lines.join('\n'), upstream) };
}

function execute(command: string, upstream: ProtocolId): ScriptCall {
  const program = `const run = await tools.exec_command(${JSON.stringify({ cmd: command })}); text(run.output);`;
  return { tool: 'exec', input: freeText(program, upstream) };
}

/** A protocol without custom tools offers them as functions of one text. */
function freeText(input: string, upstream: ProtocolId): unknown {
  return upstream === 'responses' || upstream === 'chat-completions' ? input : { input };
}
