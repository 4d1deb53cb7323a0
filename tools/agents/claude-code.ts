import { join } from 'node:path';
import { z } from 'zod';
import type { Agent } from './agent.ts';
import { printedJson } from './printed-json.ts';

const printed = z.object({ result: z.string() });

export const claudeCode: Agent = {
  id: 'claude-code',
  package: '@anthropic-ai/claude-code',
  // Finds the binary of this platform by itself, so that no install script need run.
  program: 'cli-wrapper.cjs',
  platform: 'messages',
  surface: 'messages',
  model: 'headgate-for-claude-code',
  launch: ({ prompt }, { apiOrigin, key, model }) => ({
    options: [
      '-p',
      prompt,
      '--output-format',
      'json',
      '--model',
      model,
      '--allowedTools',
      'Read,Write,Bash,ToolSearch',
    ],
    environment: {
      ANTHROPIC_BASE_URL: apiOrigin,
      ANTHROPIC_AUTH_TOKEN: key,
      ANTHROPIC_DEFAULT_HAIKU_MODEL: model,
      CLAUDE_CODE_MAX_RETRIES: '0',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
      DISABLE_ERROR_REPORTING: '1',
      DISABLE_TELEMETRY: '1',
    },
    homeFiles: {},
  }),
  script: ({ folder, copyFile, copyText, farewell }) => [
    [
      { tool: 'Read', input: { file_path: join(folder, 'note.txt') } },
      { tool: 'Read', input: { file_path: join(folder, 'picture.png') } },
    ],
    [
      { tool: 'Write', input: { file_path: copyFile, content: copyText } },
      { tool: 'Bash', input: { command: 'git status --short', description: 'Shows what has changed' } },
      // Its result is a reference to a tool, and from then on the tool is offered as a deferred one.
      { tool: 'ToolSearch', input: { query: 'select:WebFetch', max_results: 1 } },
    ],
    farewell,
  ],
  finalText: (standardOutput) => printed.safeParse(printedJson(standardOutput)).data?.result ?? null,
};
