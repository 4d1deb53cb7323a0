import type { Platform } from '@headgate/protocols';
import type { ShowcaseModels } from './ready-file.ts';
import type { SelfConfiguration } from './self-configuration.ts';

/** The text a start prints for the person who made it. */
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
  const shown = surfaces.flatMap((surface) => {
    const found = showcase(facts, surface.platform);
    return found === null ? [] : [{ surface, ...found }];
  });
  const [first] = shown;
  if (first === undefined) return '';
  const { apiOrigin, color } = facts;
  return [
    ...shown.flatMap(({ surface, key, model }) => [
      `  ${bold(`${surface.title}${simulatedNote(facts)}`, color)}`,
      '',
      curl(`${apiOrigin}${surface.path(model)}`, surface.header(key), surface.body(model)),
      '',
    ]),
    `  ${bold('SDKs and coding agents: all they need', color)}`,
    '',
    ...shown.map(({ surface, key }) => `  export ${surface.environment(apiOrigin, key)}`),
    '',
    `  ${bold('List the models, and see what was used', color)}`,
    '',
    `  curl ${apiOrigin}/v1/models -H '${first.surface.header(first.key)}'`,
    `  curl ${apiOrigin}/v1/usage -H '${first.surface.header(first.key)}'`,
  ].join('\n');
}

/** How a surface is called from a shell and from the libraries that speak it. */
interface ShownSurface {
  readonly platform: Platform;
  readonly title: string;
  path(model: string): string;
  header(key: string): string;
  body(model: string): object;
  /** Variables its libraries and agents read, as a shell sets them. */
  environment(apiOrigin: string, key: string): string;
}

const messages = [{ role: 'user', content: 'Say hello.' }];

const surfaces: readonly ShownSurface[] = [
  {
    platform: 'completions',
    title: 'Stream an answer',
    path: () => '/v1/chat/completions',
    header: (key) => `Authorization: Bearer ${key}`,
    body: (model) => ({ model, stream: true, messages }),
    environment: (origin, key) => `OPENAI_BASE_URL=${origin}/v1 OPENAI_API_KEY=${key}`,
  },
  {
    platform: 'messages',
    title: 'The same as messages',
    path: () => '/v1/messages',
    header: (key) => `x-api-key: ${key}`,
    body: (model) => ({ model, max_tokens: 1024, stream: true, messages }),
    environment: (origin, key) => `ANTHROPIC_BASE_URL=${origin} ANTHROPIC_API_KEY=${key}`,
  },
  {
    platform: 'native',
    title: 'The same natively',
    path: (model) => `/v1beta/models/${encodeURIComponent(model)}:streamGenerateContent?alt=sse`,
    header: (key) => `x-goog-api-key: ${key}`,
    body: () => ({ contents: [{ role: 'user', parts: [{ text: 'Say hello.' }] }] }),
    environment: (origin, key) => `GOOGLE_GEMINI_BASE_URL=${origin} GEMINI_API_KEY=${key}`,
  },
];

/** The key and the model to show on a platform; null when there is nothing to show. */
function showcase({ selfConfiguration, models }: BannerFacts, platform: Platform) {
  const key = selfConfiguration.kind === 'none' ? undefined : selfConfiguration.keys?.[platform];
  const model = models[platform];
  return key === undefined || model === undefined ? null : { key, model };
}

function simulatedNote({ selfConfiguration }: BannerFacts): string {
  return selfConfiguration.kind === 'demo' ? ' (the answer is simulated)' : '';
}

function curl(url: string, header: string, body: object): string {
  return [
    `  curl -N '${url}' \\`,
    `    -H '${header}' \\`,
    "    -H 'Content-Type: application/json' \\",
    `    -d '${JSON.stringify(body)}'`,
  ].join('\n');
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

/** `1 call`, `2 calls`: for nouns whose plural is an s more. */
export function counted(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
