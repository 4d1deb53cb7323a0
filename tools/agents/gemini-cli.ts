import { z } from 'zod';
import type { Agent } from './agent.ts';
import { printedJson } from './printed-json.ts';

const printed = z.object({ response: z.string() });

export const geminiCli: Agent = {
  id: 'gemini-cli',
  package: '@google/gemini-cli',
  program: 'bundle/gemini.js',
  platform: 'native',
  surface: 'generate-content',
  model: 'headgate-for-gemini-cli',
  launch: ({ prompt }, { apiOrigin, key, model }) => ({
    options: ['-p', prompt, '--model', model, '--yolo', '--output-format', 'json'],
    environment: {
      GOOGLE_GEMINI_BASE_URL: apiOrigin,
      GEMINI_API_KEY: key,
      GEMINI_CLI_TRUST_WORKSPACE: 'true',
    },
    homeFiles: { '.gemini/settings.json': JSON.stringify(settings) },
  }),
  script: ({ copyFile, copyText, farewell }) => [
    [
      { tool: 'read_file', input: { file_path: 'note.txt' } },
      { tool: 'read_file', input: { file_path: 'picture.png' } },
    ],
    [
      { tool: 'write_file', input: { file_path: copyFile, content: copyText } },
      {
        tool: 'run_shell_command',
        input: { command: 'git status --short', description: 'Shows what has changed' },
      },
    ],
    farewell,
  ],
  finalText: (standardOutput) => printed.safeParse(printedJson(standardOutput)).data?.response ?? null,
};

const settings = {
  security: { auth: { selectedType: 'gemini-api-key' } },
  privacy: { usageStatisticsEnabled: false },
  telemetry: { enabled: false },
  general: { maxAttempts: 1, disableAutoUpdate: true, disableUpdateNag: true },
};
