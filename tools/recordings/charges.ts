import {
  mergeTerms,
  noTerms,
  noUsage,
  type ProtocolId,
  type Reading,
  type Usage,
  type UsageTerms,
} from '@headgate/protocols';
import {
  calculate,
  type PricePage,
} from '../../packages/gateway/src/money/independent-calculator.fixture.ts';
import { priceUsage } from '../../packages/gateway/src/money/price.ts';
import { readPriceTiers } from '../../packages/gateway/src/money/price-terms.ts';
import type { RecordedAnswer } from './recording.ts';
import type { PricedPage } from './seeds.ts';

/** Every class, tier, region and fee has a price that is no other's, so that nothing is charged as something else unseen. */
const page: PricePage = [
  {
    aboveInputTokens: 0,
    prices: {
      input: '2.000003',
      cacheRead: '0.200007',
      cacheReadAudio: '0.31',
      cacheWrite5m: '2.5',
      cacheWrite1h: '4.000011',
      output: '10.000013',
      reasoning: '11.000017',
      audioInput: '3.1',
      audioOutput: '21.3',
      imageInput: '5.7',
      imageOutput: '41.9',
      citation: '1.7',
      perCall: '0.000023',
      perWebSearch: '0.010000001',
      perFileSearch: '0.0025',
      perCodeSession: '0.03',
      perGrounding: '0.035',
      perPage: '0.002',
    },
    regions: { us: '1.1' },
  },
  { aboveInputTokens: 3_000, prices: { input: '4.1', output: '15.3' } },
  ...['priority', 'flex', 'batch', 'fast', 'provisioned'].map((service, at) => ({
    aboveInputTokens: 0,
    service,
    prices: { input: `3.${at + 1}`, output: `17.${at + 1}` },
  })),
];

const tiers = readPriceTiers(page);
if (!tiers.ok) throw new Error(tiers.error.reason);
const tellingApart: PricedPage = {
  page,
  version: { id: 'recorded', effectiveFromMs: 0, tiers: tiers.value },
};

/** The difference between what we charge for a recorded answer and what an independent reading of its JSON comes to; null for none. */
export function chargeProblem(
  protocol: ProtocolId,
  { body }: RecordedAnswer,
  reading: Reading,
  isOutside: boolean,
  { page: said, version }: PricedPage = tellingApart,
): string | null {
  const read = readRaw[protocol];
  if (read === undefined) return null;
  const raw = read(eventsOf(new TextDecoder().decode(body)), isOutside);
  if (raw === null || reading.usage === null)
    return (raw === null) === (reading.usage === null) ? null : 'only one of us finds usage';
  const terms = mergeTerms(reading.terms ?? noTerms, noTerms);
  const parts = reading.iterations?.map(({ usage }) => ({ price: version, usage })) ?? null;
  const ours = priceUsage(reading.usage, version, 1_500_000n, terms, parts);
  const theirs = calculate(said, raw.usage, '1.5', { ...noTerms, ...raw.terms }, raw.prompts ?? null);
  return ours === theirs
    ? null
    : `charged ${ours}, its JSON gives ${theirs}: ${JSON.stringify([reading.usage, terms, raw])}`;
}

interface RawCharge {
  readonly usage: Usage;
  readonly terms: Partial<UsageTerms>;
  readonly prompts: readonly Usage[] | null;
}

// Raw JSON is read here by the shortest way there is, and by nothing of what the gateway reads it with.

/** The objects of an answer: it is one, or the data of each event is. */
function eventsOf(text: string): readonly unknown[] {
  const whole = text.trim();
  if (whole.startsWith('{')) return [JSON.parse(whole)];
  return whole.split(/\r?\n/).flatMap((line) => {
    const data = /^data: ?(\{.*)$/.exec(line)?.[1];
    return data === undefined ? [] : [JSON.parse(data) as unknown];
  });
}

/** The value at a path; undefined where there is none. */
function at(value: unknown, ...path: readonly string[]): unknown {
  let found = value;
  for (const name of path)
    found = typeof found === 'object' && found !== null ? Reflect.get(found, name) : undefined;
  return found;
}

function count(value: unknown, ...path: readonly string[]): number {
  const found = at(value, ...path);
  return typeof found === 'number' ? found : 0;
}

function list(value: unknown, ...path: readonly string[]): readonly unknown[] {
  const found = at(value, ...path);
  return Array.isArray(found) ? found : [];
}

const standard = new Set(['default', 'standard', 'on_demand', 'ON_DEMAND', 'auto']);
const renamed: Readonly<Record<string, string>> = {
  PROVISIONED_THROUGHPUT: 'provisioned',
  ON_DEMAND_PRIORITY: 'priority',
  ON_DEMAND_FLEX: 'flex',
};

function tier(word: unknown): Partial<UsageTerms> {
  if (typeof word !== 'string' || standard.has(word)) return {};
  return { service: renamed[word] ?? word };
}

/** What chat and responses have in common: sums, of which details tell the parts. */
function detailed(usage: unknown, input: string, output: string, beside: number): Partial<Usage> {
  const details = at(usage, `${input}_details`);
  const written = at(usage, `${output}_details`);
  const cached =
    at(details, 'cached_tokens') === undefined
      ? count(usage, 'prompt_cache_hit_tokens')
      : count(details, 'cached_tokens');
  const [sound, picture, stored] = ['audio_tokens', 'image_tokens', 'cache_write_tokens'].map((name) =>
    count(details, name),
  );
  // Some servers count what they read from the cache as written to it, too: the parts are no more than the sum.
  const written5m = Math.min(stored ?? 0, count(usage, input) - cached);
  const [saidAloud, drawn] = ['audio_tokens', 'image_tokens'].map((name) => count(written, name));
  const searches =
    count(usage, 'server_side_tool_usage_details', 'web_search_calls') +
    count(usage, 'server_side_tool_usage_details', 'x_search_calls');
  return {
    inputFresh: count(usage, input) - cached - (sound ?? 0) - (picture ?? 0) - written5m,
    inputCacheRead: cached,
    inputCacheWrite5m: written5m,
    inputAudio: sound ?? 0,
    inputImage: picture ?? 0,
    output: count(usage, output) + beside - (saidAloud ?? 0) - (drawn ?? 0),
    outputReasoning: count(written, 'reasoning_tokens') || count(usage, 'reasoning_tokens'),
    outputAudio: saidAloud ?? 0,
    outputImage: drawn ?? 0,
    webSearches: count(usage, 'server_tool_use_details', 'web_search_requests') || searches,
    fileSearches: count(usage, 'server_side_tool_usage_details', 'file_search_calls'),
    codeSessions: count(usage, 'server_side_tool_usage_details', 'code_interpreter_calls'),
  };
}

function readChat(events: readonly unknown[], isOutside: boolean): RawCharge | null {
  const usages = events.flatMap(
    (event) => at(event, 'usage') ?? at(event, 'x_groq', 'usage') ?? at(event, 'choices', '0', 'usage') ?? [],
  );
  const usage = usages.at(-1);
  if (usage === undefined) return null;
  const beside = isOutside ? count(usage, 'completion_tokens_details', 'reasoning_tokens') : 0;
  const word = events.map((event) => at(event, 'service_tier')).findLast((each) => typeof each === 'string');
  return {
    usage: { ...noUsage, ...detailed(usage, 'prompt_tokens', 'completion_tokens', beside) },
    terms: tier(word),
    prompts: null,
  };
}

function readResponse(events: readonly unknown[]): RawCharge | null {
  const last = events.at(-1);
  const response = at(last, 'response') ?? last;
  const usage = at(response, 'usage');
  if (typeof usage !== 'object' || usage === null) return null;
  const read = { ...noUsage, ...detailed(usage, 'input_tokens', 'output_tokens', 0) };
  const items = list(response, 'output');
  const ofType = (type: string) => items.filter((item) => at(item, 'type') === type);
  const searches = ofType('web_search_call').filter((item) =>
    ['search', undefined].includes(at(item, 'action', 'type') as undefined),
  );
  const containers = new Set(ofType('code_interpreter_call').map((item) => at(item, 'container_id')));
  const hosted = [
    ...ofType('web_search_call'),
    ...ofType('file_search_call'),
    ...ofType('code_interpreter_call'),
  ].length;
  const tells = read.webSearches + read.fileSearches + read.codeSessions > 0;
  const fees = {
    webSearches: searches.length,
    fileSearches: ofType('file_search_call').length,
    codeSessions: containers.size,
  };
  const told = count(usage, 'context_details', 'input_tokens');
  const mean = Math.ceil(count(usage, 'input_tokens') / (hosted + 1));
  return {
    usage: tells ? read : { ...read, ...fees },
    terms: { ...tier(at(response, 'service_tier')), ...(hosted === 0 ? {} : { promptTokens: told || mean }) },
    prompts: null,
  };
}

function messageParts(usage: unknown): Partial<Usage> {
  const hour = count(usage, 'cache_creation', 'ephemeral_1h_input_tokens');
  return {
    inputFresh: count(usage, 'input_tokens'),
    inputCacheRead: count(usage, 'cache_read_input_tokens'),
    inputCacheWrite5m: count(usage, 'cache_creation_input_tokens') - hour,
    inputCacheWrite1h: hour,
    output: count(usage, 'output_tokens'),
    outputReasoning: count(usage, 'output_tokens_details', 'thinking_tokens'),
  };
}

function objectOf(value: unknown): object {
  return typeof value === 'object' && value !== null ? value : {};
}

function readMessage(events: readonly unknown[]): RawCharge | null {
  const start = events.find((event) => at(event, 'type') === 'message_start');
  const end = events.findLast((event) => at(event, 'type') === 'message_delta');
  const whole = start === undefined ? events[0] : at(start, 'message');
  const spread = { ...objectOf(at(whole, 'usage')), ...withoutNull(objectOf(at(end, 'usage'))) };
  if (Object.keys(spread).length === 0) return null;
  const prompts = list(spread, 'iterations').map((each) => ({ ...noUsage, ...messageParts(each) }));
  const sum = prompts.length === 0 ? { ...noUsage, ...messageParts(spread) } : prompts.reduce(add);
  const blocks =
    start === undefined
      ? list(whole, 'content')
      : events.flatMap((event) => at(event, 'content_block') ?? []);
  const kinds = blocks.map((block) => String(at(block, 'type')).endsWith('_tool_result'));
  const loops = 1 + kinds.filter((isResult, place) => !isResult && kinds[place - 1] === true).length;
  const input = sum.inputFresh + sum.inputCacheRead + sum.inputCacheWrite5m + sum.inputCacheWrite1h;
  const place = at(spread, 'inference_geo');
  const isFast = at(spread, 'speed') === 'fast';
  return {
    usage: { ...sum, webSearches: count(spread, 'server_tool_use', 'web_search_requests') },
    terms: {
      ...(isFast ? { service: 'fast' } : tier(at(spread, 'service_tier'))),
      ...(typeof place === 'string' && !['global', 'not_available'].includes(place) ? { region: place } : {}),
      ...(loops > 1 ? { promptTokens: Math.ceil(input / loops) } : {}),
    },
    prompts: prompts.length === 0 ? null : prompts,
  };
}

function withoutNull(members: object): object {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null));
}

function add(a: Usage, b: Usage): Usage {
  const names = Object.keys(a) as readonly (keyof Usage)[]; // Its own keys.
  return Object.fromEntries(names.map((name) => [name, a[name] + b[name]])) as unknown as Usage;
}

function readNative(events: readonly unknown[]): RawCharge | null {
  const counted = events.filter((event) => count(event, 'usageMetadata', 'totalTokenCount') > 0);
  const usage = at(counted.at(-1), 'usageMetadata');
  if (usage === undefined) return null;
  const ofSound = (name: string) => modality(usage, name, 'AUDIO');
  const ofPicture = (name: string) => modality(usage, name, 'IMAGE');
  const cachedSound = ofSound('cacheTokensDetails');
  const sound = ofSound('promptTokensDetails') + ofSound('toolUsePromptTokensDetails') - cachedSound;
  const picture =
    ofPicture('promptTokensDetails') +
    ofPicture('toolUsePromptTokensDetails') -
    ofPicture('cacheTokensDetails');
  const cached = count(usage, 'cachedContentTokenCount');
  const tools = count(usage, 'toolUsePromptTokenCount');
  const grounding = events
    .flatMap((event) => list(event, 'candidates').flatMap((each) => at(each, 'groundingMetadata') ?? []))
    .filter((each) => Object.keys(objectOf(each)).length > 0)
    .at(-1);
  const queries = list(grounding, 'webSearchQueries').length;
  const thoughts = count(usage, 'thoughtsTokenCount');
  const [aloud, drawn] = [ofSound('candidatesTokensDetails'), ofPicture('candidatesTokensDetails')];
  return {
    usage: {
      ...noUsage,
      inputFresh: count(usage, 'promptTokenCount') + tools - cached - sound - picture,
      inputCacheRead: cached - cachedSound,
      inputCacheReadAudio: cachedSound,
      inputAudio: sound,
      inputImage: picture,
      output: count(usage, 'candidatesTokenCount') + thoughts - aloud - drawn,
      outputReasoning: thoughts,
      outputAudio: aloud,
      outputImage: drawn,
      webSearches: queries,
      groundings: queries + list(grounding, 'groundingChunks').length > 0 ? 1 : 0,
    },
    terms: {
      ...tier(at(usage, 'serviceTier') ?? at(usage, 'trafficType')),
      ...(tools > 0 ? { promptTokens: count(usage, 'promptTokenCount') } : {}),
    },
    prompts: null,
  };
}

function modality(usage: unknown, name: string, kind: string): number {
  return list(usage, name)
    .filter((each) => at(each, 'modality') === kind)
    .reduce<number>((sum, each) => sum + count(each, 'tokenCount'), 0);
}

const readRaw: Readonly<
  Partial<Record<ProtocolId, (events: readonly unknown[], isOutside: boolean) => RawCharge | null>>
> = {
  'chat-completions': readChat,
  responses: readResponse,
  messages: readMessage,
  'generate-content': readNative,
};
