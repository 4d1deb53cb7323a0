import type { Ask, Call, Said } from './dialogue.ts';

/** One pixel. */
const png =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

const object = (properties: Record<string, unknown>) => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});

const tools = [
  { name: 'get_weather', parameters: object({ city: { type: 'string' } }) },
  { name: 'get_time', parameters: object({ zone: { type: 'string' }, exact: { type: 'boolean' } }) },
];

/** The model does this in its three turns with tools. */
const steps = [
  [
    { tool: 'get_weather', input: { city: 'Zürich "HB"' } },
    { tool: 'get_time', input: { zone: 'CET', exact: true } },
  ],
  { tool: 'get_weather', input: { city: 'Roma' } },
  'All is done.',
];

/** A caller's question, the simulated model's doing, and all that the caller must understand of it. */
export interface Scenario {
  readonly name: string;
  /** The simulator's command. */
  readonly command: string;
  readonly ask: Ask;
  /** Tokens of all input; the simulator's count, or what its command states. */
  readonly inputTokens: number;
  /** Turns of the conversation, in order. */
  readonly turns: readonly ExpectedTurn[];
  /** The form that its last text must have. */
  readonly looks?: RegExp;
}

interface ExpectedTurn {
  /** `pieces`: one for every eight characters of the text. */
  readonly outputTokens: number | 'pieces';
  readonly said: Partial<Omit<Said, 'calls'>> & { readonly calls?: readonly Omit<Call, 'id'>[] };
  /** The tools' answers. */
  readonly results?: readonly string[];
}

const ask = { prompt: 'What is new?' };
const stated = 'prompt=50';
const inputTokens = 50;

function words(count: number): RegExp {
  return new RegExp(`^(\\S+\\s*){${count}}$`);
}

/** A token for the name, and one for each piece of eight characters of the arguments. */
function callTokens(calls: readonly { readonly input: unknown }[]): number {
  return calls.reduce((sum, { input }) => sum + 1 + Math.ceil(JSON.stringify(input).length / 8), 0);
}

const [parallel, single] = steps;

export const scenarios: readonly Scenario[] = [
  {
    name: 'text',
    command: `tokens=12,${stated}`,
    ask,
    inputTokens,
    turns: [{ outputTokens: 12, said: { stop: 'stop', calls: [], refusal: '', reasoning: '' } }],
    looks: words(12),
  },
  {
    name: 'tool loop',
    command: `${stated},steps=${encodeURIComponent(JSON.stringify(steps))}`,
    ask: { ...ask, tools },
    inputTokens,
    turns: [
      {
        outputTokens: callTokens(asCalls(parallel)),
        said: callsOf(parallel),
        results: ['mild', '{"t":"12:00"}'],
      },
      { outputTokens: callTokens(asCalls(single)), said: callsOf(single), results: ['warm'] },
      { outputTokens: 3, said: { stop: 'stop', text: 'All is done.', calls: [] } },
    ],
  },
  {
    name: 'image',
    command: 'tokens=4',
    ask: { ...ask, image: png },
    inputTokens: 103,
    turns: [{ outputTokens: 4, said: { stop: 'stop' } }],
    looks: words(4),
  },
  {
    name: 'structured output',
    command: stated,
    ask: { ...ask, schema: object({ city: { type: 'string' }, mild: { type: 'boolean' } }) },
    inputTokens,
    turns: [{ outputTokens: 'pieces', said: { stop: 'stop' } }],
    looks: /^\{"city":"[^"]+","mild":(true|false)\}$/,
  },
  {
    name: 'reasoning',
    command: `reasoning=5,tokens=4,${stated}`,
    ask: { ...ask, reasoning: true },
    inputTokens,
    turns: [{ outputTokens: 9, said: { stop: 'stop' } }],
    looks: words(4),
  },
  {
    name: 'refusal',
    command: `refusal,tokens=6,${stated}`,
    ask,
    inputTokens,
    turns: [{ outputTokens: 6, said: { stop: 'refusal' } }],
  },
  {
    name: 'length',
    command: `tokens=100,${stated}`,
    ask: { ...ask, maxTokens: 20 },
    inputTokens,
    turns: [{ outputTokens: 20, said: { stop: 'length' } }],
    looks: words(20),
  },
];

type Step = (typeof steps)[number] | undefined;

function asCalls(step: Step): readonly { readonly tool: string; readonly input: unknown }[] {
  if (step === undefined || typeof step === 'string') return [];
  return Array.isArray(step) ? step : [step];
}

function callsOf(step: Step): ExpectedTurn['said'] {
  const calls = asCalls(step).map(({ tool, input }) => ({ name: tool, input }));
  return { stop: 'tools', calls };
}
