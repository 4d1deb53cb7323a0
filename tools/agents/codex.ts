import { z } from 'zod';
import type { Agent, Launch, ScriptCall, Task } from './agent.ts';
import { printedJson } from './printed-json.ts';
import type { Upstream } from './upstreams.ts';

const readNote = 'cat note.txt';
const viewPicture: ScriptCall = { tool: 'view_image', input: { path: 'picture.png' } };

/** With a model it does not know: functions, and a namespace of more of them. */
export const codex: Agent = {
  ...commonParts(),
  id: 'codex',
  model: 'headgate-for-codex',
  script: (task) => [
    [run(readNote), viewPicture],
    [run(writeCopy(task)), run('git status --short')],
    task.farewell,
  ],
};

/** With a model that edits by patches: a custom tool with a grammar, and a search for more tools. */
export const codexPatching: Agent = {
  ...commonParts(),
  id: 'codex, patching',
  model: 'gpt-5.5',
  script: (task, upstream) => [
    [run(readNote), viewPicture],
    [patch(task, upstream), run('git status --short')],
    task.farewell,
  ],
};

/**
 * As someone who has signed in: its bodies are compressed with zstd, and it asks for the models. Its model writes programs;
 * their tools come as an item of the input, and the one it calls is custom.
 */
export const codexSignedIn: Agent = {
  ...commonParts(),
  id: 'codex, signed in',
  model: 'gpt-6-sol',
  launch: ({ prompt }, { apiOrigin, key, model }) => ({
    options: optionsFor(prompt),
    environment: {},
    homeFiles: {
      '.codex/config.toml': `model = "${model}"\nopenai_base_url = "${apiOrigin}/v1"\n${quietly}`,
      '.codex/auth.json': signedInAs(key),
    },
  }),
  script: (task, upstream) => [
    execute(runIn(readNote) + viewIn, upstream),
    execute(runIn(writeCopy(task)), upstream),
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
    options: optionsFor(prompt),
    environment: { HEADGATE_KEY: key },
    homeFiles: { '.codex/config.toml': configuration(apiOrigin, model) },
  };
}

function optionsFor(prompt: string): readonly string[] {
  return ['exec', '--json', '--dangerously-bypass-approvals-and-sandbox', prompt];
}

/** The access token is what it sends to the model. */
function signedInAs(key: string): string {
  const plan = { chatgpt_plan_type: 'pro', chatgpt_account_id: 'account', chatgpt_user_id: 'user' };
  const claims = { email: 'tester@example.com', exp: 4_102_444_800, 'https://api.openai.com/auth': plan };
  const parts = [{ alg: 'none' }, claims].map((part) =>
    Buffer.from(JSON.stringify(part)).toString('base64url'),
  );
  return JSON.stringify({
    auth_mode: 'chatgpt',
    tokens: {
      id_token: `${parts.join('.')}.x`,
      access_token: key,
      refresh_token: 'none',
      account_id: 'account',
    },
    last_refresh: new Date().toISOString(),
  });
}

/** `supports_websockets` makes it ask for a socket first, and take 426 as a no. */
function configuration(apiOrigin: string, model: string): string {
  return `model = "${model}"
model_provider = "headgate"

[model_providers.headgate]
name = "Headgate"
base_url = "${apiOrigin}/v1"
wire_api = "responses"
env_key = "HEADGATE_KEY"
supports_websockets = true
request_max_retries = 0
stream_max_retries = 0
${quietly}`;
}

const quietly = `
[analytics]
enabled = false
`;

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

function patch({ copyFile, copyText }: Task, upstream: Upstream): ScriptCall {
  const lines = ['*** Begin Patch', `*** Add File: ${copyFile}`, `+${copyText}`, '*** End Patch', ''];
  return { tool: 'apply_patch', input: freeText(lines.join('\n'), upstream) };
}

function execute(program: string, upstream: Upstream): ScriptCall {
  // If there are no namespaces, the name of its own is part of the tool's name.
  const tool = upstream === 'responses' ? 'exec' : 'functions__exec';
  return { tool, input: freeText(program, upstream) };
}

const viewIn = `image((await tools.view_image(${JSON.stringify(viewPicture.input)})).image_url);`;

function runIn(command: string): string {
  return `text((await tools.exec_command(${JSON.stringify({ cmd: command })})).output);`;
}

/** A protocol without custom tools offers them as functions of one text. */
function freeText(input: string, upstream: Upstream): unknown {
  return upstream === 'responses' || upstream === 'chat-completions' ? input : { input };
}
