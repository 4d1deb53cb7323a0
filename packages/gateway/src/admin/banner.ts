import { counted } from './counted.ts';
import type { ShowcaseModels } from './ready-file.ts';
import type { SelfConfiguration } from './self-configuration.ts';

/** What a start tells the person who made it. */
export interface BannerFacts {
  readonly deploymentName: string;
  /** Addresses a person on this machine can call. */
  readonly apiOrigin: string;
  readonly consoleOrigin: string;
  readonly selfConfiguration: SelfConfiguration;
  /** The models of the calls that are shown. */
  readonly models: ShowcaseModels;
  readonly channelCount: number;
  readonly modelCount: number;
  /** For the first sign-in to the console; null when an operator exists, or the console has none yet. */
  readonly setupToken: string | null;
  readonly color: boolean;
}

/** The text of a start: where things are, and calls that work when pasted into a shell. Ends in a line feed. */
export function bannerText(facts: BannerFacts): string {
  const sections = [addresses(facts), situation(facts), calls(facts), setup(facts)];
  return `\n${sections.filter((section) => section !== '').join('\n\n')}\n\n`;
}

function addresses({
  deploymentName,
  apiOrigin,
  consoleOrigin,
  channelCount,
  modelCount,
  color,
}: BannerFacts): string {
  return [
    `  ${bold(`${deploymentName} is ready`, color)}`,
    '',
    `  API      ${apiOrigin}`,
    `  Console  ${consoleOrigin}  (for now /healthz, /readyz and /metrics)`,
    `  Serving  ${counted(modelCount, 'model')} on ${counted(channelCount, 'channel')}`,
  ].join('\n');
}

function situation({ selfConfiguration, color }: BannerFacts): string {
  switch (selfConfiguration.kind) {
    case 'demo':
      return [
        `  ${highlight('SIMULATED', color)}  Every answer is made up and every price invented: this is a demo on a built-in simulator.`,
        '  For real models, set OPENAI_API_KEY, ANTHROPIC_API_KEY, GEMINI_API_KEY, DEEPSEEK_API_KEY, …',
        '  and start again, or write a headgate.yaml (docs/configuration.md).',
      ].join('\n');
    case 'environment':
      return [
        `  Real channels from ${selfConfiguration.variables.join(', ')}. Calls cost money there.`,
        selfConfiguration.keys === null
          ? '  The keys were shown at the first start; `headgate keys create` makes another.'
          : `  ${bold('The key below is shown this once and stored nowhere readable.', color)}`,
      ].join('\n');
    case 'none':
      return '';
  }
}

function calls(facts: BannerFacts): string {
  return [completionsCalls(facts), messagesCall(facts)].filter((section) => section !== '').join('\n\n');
}

/** The key and the model to show on a platform; null when there is nothing to show. */
function showcase({ selfConfiguration, models }: BannerFacts, platform: keyof ShowcaseModels) {
  const key = selfConfiguration.kind === 'none' ? undefined : selfConfiguration.keys?.[platform];
  const model = models[platform];
  return key === undefined || model === undefined ? null : { key, model };
}

function simulatedNote({ selfConfiguration }: BannerFacts): string {
  return selfConfiguration.kind === 'demo' ? ' (the answer is simulated)' : '';
}

function completionsCalls(facts: BannerFacts): string {
  const shown = showcase(facts, 'completions');
  if (shown === null) return '';
  const { apiOrigin, color } = facts;
  const { key, model } = shown;
  return [
    `  ${bold(`Stream an answer${simulatedNote(facts)}`, color)}`,
    '',
    chatCall(apiOrigin, key, model),
    '',
    `  ${bold('List the models, and see what was used', color)}`,
    '',
    getCall(`${apiOrigin}/v1/models`, key),
    getCall(`${apiOrigin}/v1/usage`, key),
    '',
    `  ${bold('Any OpenAI-compatible SDK', color)}`,
    '',
    `  export OPENAI_BASE_URL=${apiOrigin}/v1 OPENAI_API_KEY=${key}`,
  ].join('\n');
}

function chatCall(apiOrigin: string, key: string, model: string): string {
  const body = JSON.stringify({ model, stream: true, messages: [{ role: 'user', content: 'Say hello.' }] });
  return [
    `  curl -N ${apiOrigin}/v1/chat/completions \\`,
    `    -H 'Authorization: Bearer ${key}' \\`,
    "    -H 'Content-Type: application/json' \\",
    `    -d '${body}'`,
  ].join('\n');
}

function messagesCall(facts: BannerFacts): string {
  const shown = showcase(facts, 'messages');
  if (shown === null) return '';
  const { apiOrigin, color } = facts;
  const messages = [{ role: 'user', content: 'Say hello.' }];
  const body = JSON.stringify({ model: shown.model, max_tokens: 1024, stream: true, messages });
  return [
    `  ${bold(`The same as messages${simulatedNote(facts)}`, color)}`,
    '',
    `  curl -N ${apiOrigin}/v1/messages \\`,
    `    -H 'x-api-key: ${shown.key}' \\`,
    "    -H 'Content-Type: application/json' \\",
    `    -d '${body}'`,
    '',
    `  ${bold('Any SDK and coding agent that speaks messages', color)}`,
    '',
    `  export ANTHROPIC_BASE_URL=${apiOrigin} ANTHROPIC_API_KEY=${shown.key}`,
  ].join('\n');
}

function getCall(url: string, key: string): string {
  return `  curl ${url} -H 'Authorization: Bearer ${key}'`;
}

function setup({ setupToken, consoleOrigin }: BannerFacts): string {
  if (setupToken === null) return '';
  return `  Set up the first operator at ${consoleOrigin}/setup with this token:\n  ${setupToken}`;
}

function bold(text: string, color: boolean): string {
  return color ? `\u001b[1m${text}\u001b[22m` : text;
}

function highlight(text: string, color: boolean): string {
  return color ? `\u001b[30;43m ${text} \u001b[39;49m` : text;
}
