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
  /** Leads to making the console's first operator; null when there are people. */
  readonly setUpLink: string | null;
  readonly color: boolean;
}

/** The text of a start: where things are, and a call that works when pasted into a shell. It fits a terminal of 24 lines and 80 columns. */
export function bannerText(facts: BannerFacts): string {
  const sections = [addresses(facts), situation(facts), firstCall(facts)];
  return `\n${sections.filter((section) => section !== '').join('\n\n')}\n`;
}

function addresses(facts: BannerFacts): string {
  const serves = `${counted(facts.modelCount, 'model')} on ${counted(facts.channelCount, 'channel')}`;
  return [
    ` ${bold(`${facts.deploymentName} is ready`, facts.color)}: ${serves}`,
    ` API      ${facts.apiOrigin}`,
    ` Console  ${facts.setUpLink === null ? `${facts.consoleOrigin}  (/healthz, /readyz, /metrics)` : `${facts.setUpLink}  (set it up)`}`,
  ].join('\n');
}

function situation({ selfConfiguration, color }: BannerFacts): string {
  switch (selfConfiguration.kind) {
    case 'demo':
      return [
        ` ${highlight('SIMULATED', color)}  Answers are made up and prices invented: a demo on a simulator.`,
        ' For real models set OPENAI_API_KEY, ANTHROPIC_API_KEY, GEMINI_API_KEY, …, and',
        ' start again, or write a headgate.yaml (docs/configuration.md).',
      ].join('\n');
    case 'environment':
      return [
        ` Real channels from ${selfConfiguration.variables.join(', ')}. Calls cost money there.`,
        selfConfiguration.keys === null
          ? ' The keys were shown at the first start; `headgate keys create` makes another.'
          : ` ${bold('The key below is shown this once and stored nowhere readable.', color)}`,
      ].join('\n');
    case 'none':
      return '';
  }
}

function firstCall(facts: BannerFacts): string {
  const shown = surfaces.flatMap((surface) => {
    const found = showcase(facts, surface.platform);
    return found === null ? [] : [{ surface, ...found }];
  });
  const [first] = shown;
  if (first === undefined) return '';
  const { apiOrigin, color } = facts;
  const { surface, key, model } = first;
  return [
    ` ${bold(`A first call${simulatedNote(facts)}`, color)}`,
    `curl -s '${apiOrigin}${surface.path(model)}' \\`,
    `-H '${surface.header(key)}' \\`,
    "-H 'Content-Type: application/json' \\",
    `-d '${JSON.stringify(surface.body(model))}' \\`,
    `| node -pe 'a=JSON.parse(fs.readFileSync(0));a.${surface.answer}??a'`,
    '',
    ` ${bold('SDKs and coding agents: all they need', color)}`,
    ...shown.map(({ surface, key }) => ` export ${surface.environment(apiOrigin, key)}`),
  ].join('\n');
}

/** How a surface is called from a shell and from the libraries that speak it. */
interface ShownSurface {
  readonly platform: Platform;
  path(model: string): string;
  header(key: string): string;
  body(model: string): object;
  /** The path to the text of an answer, which the call prints; an error has nothing there and is printed whole. */
  readonly answer: string;
  /** Variables its libraries and agents read, as a shell sets them. */
  environment(apiOrigin: string, key: string): string;
}

const messages = [{ role: 'user', content: 'Say hello.' }];

const surfaces: readonly ShownSurface[] = [
  {
    platform: 'completions',
    path: () => '/v1/chat/completions',
    header: (key) => `Authorization: Bearer ${key}`,
    body: (model) => ({ model, messages }),
    answer: 'choices?.[0].message.content',
    environment: (origin, key) => `OPENAI_BASE_URL=${origin}/v1 OPENAI_API_KEY=${key}`,
  },
  {
    platform: 'messages',
    path: () => '/v1/messages',
    header: (key) => `x-api-key: ${key}`,
    body: (model) => ({ model, max_tokens: 1024, messages }),
    answer: 'content?.at(-1).text',
    environment: (origin, key) => `ANTHROPIC_BASE_URL=${origin} ANTHROPIC_API_KEY=${key}`,
  },
  {
    platform: 'native',
    path: (model) => `/v1beta/models/${encodeURIComponent(model)}:generateContent`,
    header: (key) => `x-goog-api-key: ${key}`,
    body: () => ({ contents: [{ role: 'user', parts: [{ text: 'Say hello.' }] }] }),
    answer: 'candidates?.[0].content.parts.at(-1).text',
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
