import {
  defaultDialect,
  type Fault,
  type Loss,
  type ProtocolId,
  protocols,
  type ReasoningEffort,
  translate,
} from '@headgate/protocols';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { targetOf } from '../catalogue/catalogue.fixture.ts';
import type { ModelFacts, SamplingParameter } from '../catalogue/model-facts.ts';
import { type Wire, Wires } from '../catalogue/wire.ts';
import { toProvider } from '../config/provider-document.ts';
import { openCatalogueFiles } from './catalogue-files.ts';
import { type CorpusRequest, corpus, corpusModels, type Surface, type Wish } from './model-corpus.fixture.ts';

/*
 * Every request of the corpus for every model of it, in every other protocol in which the model can be had: what is sent must be what
 * the model's record allows. The record's consequences are stated here once more, by themselves, and nothing of the code that fits
 * requests to models is used to state them.
 */

const surfaces: readonly Surface[] = ['chat-completions', 'responses', 'messages', 'generate-content'];
const files = openCatalogueFiles();
const wires = new Wires(protocols, {
  line: () => {
    throw new Error('nothing is sent');
  },
});

/** Whoever serves the model in that protocol: its vendor, else a house that speaks all of them. */
function wireTo(
  surface: Surface,
  upstream: ProtocolId,
  [vendorId, upstreamModel]: readonly [string, string],
): Wire {
  const document = files.provider(vendorId);
  if (document === null) throw new Error(`there is no ${vendorId}`);
  const vendor = toProvider(document);
  const own = vendor.protocols[upstream];
  const plain = targetOf({ id: 'c' });
  const provider =
    own === undefined ? { ...plain.channel.provider, id: 'house', dialect: defaultDialect } : { ...vendor };
  const facts = files.models().find(provider.id, upstreamModel);
  const channel = {
    ...plain.channel,
    provider: { ...provider, protocols: { [upstream]: own ?? protocols[upstream].usualPath } },
  };
  const target = { ...plain, channel, upstreamModel, facts, contextWindow: facts.contextWindow };
  return wires.of(target, surface);
}

type Body = Readonly<Record<string, unknown>>;

interface Outcome {
  readonly body: Body | null;
  readonly fault: Fault | null;
  readonly losses: readonly Loss[];
  readonly thought: 'some' | 'none' | undefined;
}

const encoder = new TextEncoder();

function outcomeOf({ surface, body }: CorpusRequest, wire: Wire): Outcome {
  const caller = protocols[surface];
  const input = {
    work: 'answer' as const,
    body: encoder.encode(JSON.stringify(body)),
    header: () => undefined,
    path: '',
    params: { model: 'm', action: 'generateContent' },
    search: '',
  };
  const request = caller.readRequest(input);
  const turn = caller.codec?.readTurn(input);
  const upstream = wire.protocol.codec;
  if (!request.ok || turn?.ok !== true || upstream === null || caller.codec === null)
    throw new Error(`a request of the corpus cannot be read: ${JSON.stringify(body)}`);
  const { facts, framing, wantsUsageFrame } = request.value;
  const context = {
    turn: turn.value,
    traceId: '0'.repeat(32),
    createdS: 0,
    wantsUsageFrame,
    framing,
    inputTokensEstimate: facts.inputTokensEstimate,
  };
  const written = translate({ caller: caller.codec, upstream }, wire.asked, context);
  if (!written.ok) return { body: null, fault: written.error, losses: [], thought: facts.thought };
  const sent = JSON.parse(Buffer.concat(written.value.request.body).toString()) as Body;
  return { body: sent, fault: null, losses: written.value.losses, thought: facts.thought };
}

/** What the upstream is told, read by the vendors' references. */
interface Sent {
  readonly effort: string | null;
  readonly budget: number | null;
  readonly isOn: boolean;
  readonly isOff: boolean;
  readonly limit: number | null;
  readonly parameters: ReadonlySet<string>;
}

function member(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>((inner, name) => (inner as Body | undefined)?.[name], value);
}

const words = (value: unknown): string | null => (typeof value === 'string' ? value : null);
const tokens = (value: unknown): number | null => (typeof value === 'number' ? value : null);

const renamed: Readonly<Record<string, SamplingParameter>> = {
  topP: 'top_p',
  topK: 'top_k',
  frequencyPenalty: 'frequency_penalty',
  presencePenalty: 'presence_penalty',
  stop_sequences: 'stop',
  stopSequences: 'stop',
  top_logprobs: 'logprobs',
  responseLogprobs: 'logprobs',
};

function parametersIn(members: unknown): ReadonlySet<string> {
  return new Set(Object.keys((members ?? {}) as Body).map((name) => renamed[name] ?? name));
}

function readSent(upstream: Surface, body: Body): Sent {
  const parameters = parametersIn(upstream === 'generate-content' ? body['generationConfig'] : body);
  switch (upstream) {
    case 'chat-completions': {
      const effort = words(body['reasoning_effort']);
      const switched = member(body, 'thinking', 'type');
      const isOff = effort === 'none' || switched === 'disabled' || body['enable_thinking'] === false;
      const isOn = switched === 'enabled' || body['enable_thinking'] === true;
      const limit = tokens(body['max_completion_tokens'] ?? body['max_tokens']);
      const amount = { effort: effort === 'none' ? null : effort, budget: tokens(body['thinking_budget']) };
      return { ...amount, isOn, isOff, limit, parameters };
    }
    case 'responses': {
      const effort = words(member(body, 'reasoning', 'effort'));
      const isOff = effort === 'none';
      const limit = tokens(body['max_output_tokens']);
      return { effort: isOff ? null : effort, budget: null, isOn: false, isOff, limit, parameters };
    }
    case 'messages': {
      const type = member(body, 'thinking', 'type');
      return {
        effort: words(member(body, 'output_config', 'effort')),
        budget: tokens(member(body, 'thinking', 'budget_tokens')),
        isOn: type === 'adaptive',
        isOff: type === 'disabled',
        limit: tokens(body['max_tokens']),
        parameters,
      };
    }
    case 'generate-content': {
      const config = body['generationConfig'];
      const budget = tokens(member(config, 'thinkingConfig', 'thinkingBudget'));
      return {
        effort: words(member(config, 'thinkingConfig', 'thinkingLevel'))?.toLowerCase() ?? null,
        budget: budget === null || budget <= 0 ? null : budget,
        isOn: budget === -1,
        isOff: budget === 0,
        limit: tokens(member(config, 'maxOutputTokens')),
        parameters,
      };
    }
  }
}

const order: readonly ReasoningEffort[] = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'];
const sayable: Readonly<Record<Surface, readonly ReasoningEffort[]>> = {
  'chat-completions': order,
  responses: order,
  messages: ['low', 'medium', 'high', 'xhigh', 'max'],
  'generate-content': ['minimal', 'low', 'medium', 'high'],
};
const usualTokens = {
  none: 0,
  minimal: 1_024,
  low: 2_048,
  medium: 8_192,
  high: 16_384,
  xhigh: 32_768,
  max: 32_768,
};

function wordFor({ effort, budget = 0 }: Wish): ReasoningEffort {
  if (effort !== undefined) return effort;
  if (budget <= 1_024) return 'minimal';
  if (budget <= 4_096) return 'low';
  return budget <= 12_288 ? 'medium' : 'high';
}

/** Distances, least first; of two as near, the one that thinks more. */
function nearest(wanted: ReasoningEffort, accepted: readonly ReasoningEffort[]): string | undefined {
  const place = order.indexOf(wanted);
  const rank = (effort: ReasoningEffort) =>
    Math.abs(order.indexOf(effort) - place) * 10 - order.indexOf(effort);
  return accepted.toSorted((a, b) => rank(a) - rank(b))[0];
}

/** One translated request, and all that it is judged by. */
interface Case {
  readonly asked: CorpusRequest;
  readonly facts: ModelFacts;
  readonly upstream: Surface;
  readonly sent: Sent;
  readonly body: Body;
  readonly losses: ReadonlySet<string>;
}

const thoughtField = /^(reasoning|thinking|enable_thinking|output_config|generationConfig\.thinkingConfig)/;
const limitField = /max(_completion|_output)?_?tokens|maxOutputTokens/i;

function isTold(losses: ReadonlySet<string>, field: RegExp): boolean {
  return [...losses].some((name) => field.test(name));
}

/** The model thinks about what it is sent, as far as its record and the request tell. */
function willThink({ sent, facts: { reasoning } }: Pick<Case, 'sent' | 'facts'>): boolean {
  if (reasoning.mode === 'none' || reasoning.mode === 'unknown' || sent.isOff) return false;
  if (sent.effort !== null || sent.budget !== null || sent.isOn || reasoning.mode === 'always') return true;
  return reasoning.defaultEffort !== 'none';
}

function* thoughtComplaints(it: Case): Generator<string> {
  const { asked, facts, upstream, sent, losses } = it;
  const { mode, efforts, budget } = facts.reasoning;
  const { wish } = asked;
  const saysSome = sent.effort !== null || sent.budget !== null || sent.isOn;
  const isLost = isTold(losses, thoughtField);
  if (mode === 'none' || mode === 'unknown') {
    if (saysSome || sent.isOff) yield 'a model that is not known to think is told about thought';
    if (wish !== null && wish.isOff === undefined && !isLost) yield 'thought is dropped without a word';
    return;
  }
  if (mode === 'always' && sent.isOff) yield 'a model that always thinks is told not to';
  if (wish === null && (saysSome || sent.isOff)) yield 'thought is made up';
  if (sent.effort !== null && efforts !== null && !efforts.some((effort) => effort === sent.effort))
    yield `effort ${sent.effort} is not accepted`;
  if (budget !== null && sent.budget !== null && (sent.budget < budget.min || sent.budget > budget.max))
    yield `a budget of ${sent.budget} is out of range`;
  if (wish === null) return;
  const thinksAnyway = mode === 'always' || facts.reasoning.defaultEffort !== 'none';
  if (wish.isOff) {
    if (willThink(it) && !isLost) yield 'a switch is dropped without a word';
    if (saysSome && !thinksAnyway) yield 'a model thinks only because its caller wants no thought';
    if (mode === 'optional' && efforts?.includes('none') === true && !sent.isOff)
      yield 'it could be switched off';
    return;
  }
  if (sent.isOff && !isLost) yield 'thought is switched off without a word';
  if (!saysSome && !isLost && !(wish.isOn && thinksAnyway)) yield 'thought is dropped without a word';
  if (wish.isOn) return;
  const some = (efforts ?? []).filter((effort) => effort !== 'none' && sayable[upstream].includes(effort));
  if (sent.effort !== null && some.length > 0 && sent.effort !== nearest(wordFor(wish), some))
    yield `effort ${sent.effort} is not the nearest to ${wordFor(wish)}`;
  if (sent.effort !== null && sent.effort !== wish.effort && !isLost)
    yield `effort ${sent.effort} is not told`;
  if (sent.budget === null || isLost) return;
  const wanted = wish.budget ?? usualTokens[wordFor(wish)];
  // All native models that take budgets take so much; of others nothing is known.
  const most = budget?.max ?? (upstream === 'generate-content' ? 24_576 : Number.POSITIVE_INFINITY);
  const expected = Math.min(Math.max(wanted, budget?.min ?? 0), most);
  if (sent.budget !== expected) yield `a budget of ${sent.budget} stands for ${wanted} without a word`;
}

function* limitComplaints({ asked, facts, upstream, sent, body, losses }: Case): Generator<string> {
  const { limit, wish } = asked;
  const most = facts.maxOutputTokens;
  if (sent.limit !== null && most !== null && sent.limit > most) yield `a limit of ${sent.limit} of ${most}`;
  if (limit !== null && sent.limit !== limit && !isTold(losses, limitField))
    yield `limit ${sent.limit} for ${limit}`;
  if (limit !== null && sent.limit !== null && sent.limit < Math.min(limit, most ?? limit))
    yield `limit ${sent.limit} cuts what ${limit} would not`;
  if (limit === null && sent.limit !== null && upstream !== 'messages') yield 'a limit is made up';
  if (limit === null && upstream === 'messages' && most !== null && sent.limit !== most)
    yield `the model's own limit is ${most}, and ${sent.limit} is sent`;
  if (upstream === 'chat-completions' && facts.parameters.max_tokens === false && 'max_tokens' in body)
    yield 'max_tokens is refused';
  if (sent.budget === null || sent.limit === null || !['messages', 'generate-content'].includes(upstream))
    return;
  if (upstream === 'messages' && sent.budget < 1_024) yield `a budget of ${sent.budget} is too small`;
  const least = Math.max(facts.reasoning.budget?.min ?? 0, upstream === 'messages' ? 1_024 : 1);
  const named = wish?.budget !== undefined && limit !== null && wish.budget < limit ? wish.budget : 0;
  const answer = limit === null ? 1_024 : limit - named;
  const room = Math.min(answer, (most ?? Number.POSITIVE_INFINITY) - least);
  if (sent.limit - sent.budget < room)
    yield `${sent.limit - sent.budget} tokens are left to an answer of ${answer}`;
}

/** Parameters that each protocol has a member for, and that do not fall to its own rules beside thought. */
const carried: Readonly<Record<Surface, readonly SamplingParameter[]>> = {
  'chat-completions': ['temperature', 'top_p', 'frequency_penalty', 'presence_penalty', 'stop', 'seed'],
  responses: ['temperature', 'top_p'],
  messages: ['stop'],
  'generate-content': [
    'temperature',
    'top_p',
    'top_k',
    'frequency_penalty',
    'presence_penalty',
    'stop',
    'seed',
  ],
};

function* parameterComplaints(it: Case): Generator<string> {
  const { asked, facts, upstream, sent, losses } = it;
  const isRefused = (taken: boolean | 'without-thought' | undefined) =>
    taken === false || (taken === 'without-thought' && willThink(it));
  for (const [parameter, taken] of Object.entries(facts.parameters))
    if (sent.parameters.has(parameter) && isRefused(taken) && parameter !== 'max_tokens')
      yield `${parameter} is refused by the model`;
  for (const { parameter, field } of asked.sampled) {
    const taken = facts.parameters[parameter];
    if (sent.parameters.has(parameter)) continue;
    if (!losses.has(field)) yield `${field} is dropped without a word`;
    if (taken !== undefined && !isRefused(taken) && carried[upstream].includes(parameter))
      yield `${parameter} is taken by the model, and not sent`;
  }
}

/** The schema that the upstream is told, wherever its protocol has it; `forced` as the only tool that may be called. */
function schemaIn(body: Body): {
  readonly schema: unknown;
  readonly strict: unknown;
  readonly forced: boolean;
} {
  const native = member(body, 'generationConfig', 'responseSchema');
  const told =
    member(body, 'response_format', 'json_schema', 'schema') ??
    member(body, 'text', 'format', 'schema') ??
    member(body, 'output_config', 'format', 'schema') ??
    member(body, 'generationConfig', 'responseJsonSchema') ??
    (native === undefined ? undefined : plainSchema(native));
  const strict =
    member(body, 'response_format', 'json_schema', 'strict') ?? member(body, 'text', 'format', 'strict');
  const forced = member(body, 'tool_choice', 'type') === 'tool';
  return { schema: forced ? member(body, 'tools', '0', 'input_schema') : told, strict, forced };
}

/** The native words for a schema in those of everybody else. */
function plainSchema(native: unknown): unknown {
  if (Array.isArray(native)) return native.map(plainSchema);
  if (typeof native !== 'object' || native === null) return native;
  const { nullable, ...words } = native as Body;
  const plain = Object.fromEntries(
    Object.entries(words).map(([name, value]) => [
      name,
      name === 'type' && typeof value === 'string' ? value.toLowerCase() : plainSchema(value),
    ]),
  );
  return nullable === true ? { anyOf: [{ type: 'null' }, plain] } : plain;
}

const ajv = new Ajv2020({ strict: false, validateFormats: false });
const admissions = new Map<string, ReturnType<typeof ajv.compile>>();

function admits(schema: unknown, sample: unknown): boolean {
  const text = JSON.stringify(schema);
  const validate = admissions.get(text) ?? ajv.compile(JSON.parse(text) as object);
  admissions.set(text, validate);
  return validate(sample) === true || validate({ value: sample }) === true;
}

function* schemaComplaints({ asked, upstream, body, sent, losses }: Case): Generator<string> {
  if (asked.schema === null) return;
  const { sample, isOpen, field } = asked.schema;
  const { schema, strict, forced } = schemaIn(body);
  const isLost = [...losses].some((name) => name.startsWith(field));
  if (schema === undefined) {
    yield isLost ? 'the schema is not sent at all' : 'the schema is dropped without a word';
    return;
  }
  if (!admits(schema, sample)) yield 'an answer that says something is not admitted';
  if (forced !== (isOpen && upstream === 'messages')) yield `a tool is ${forced ? '' : 'not '}forced`;
  if (forced && (sent.isOn || sent.budget !== null)) yield 'thought is on beside a forced tool';
  // The strict words of chat and responses are one vendor's, and mean the same in both.
  if (!isOpen || upstream === 'generate-content' || (isOfWords(asked.surface) && isOfWords(upstream))) return;
  if (isOfWords(upstream) && strict !== false) yield 'the vendor would hold the answer to another meaning';
  if (!isLost) yield 'a changed schema is not told';
}

const isOfWords = (surface: Surface) => surface === 'chat-completions' || surface === 'responses';

/** Nothing but a picture for a model without eyes, a schema that the vendor cannot be held to and a stop sequence where there is no member for it may be refused. */
function refusalComplaint(
  asked: CorpusRequest,
  facts: ModelFacts,
  upstream: Surface,
  fault: Fault,
): string | null {
  if (asked.hasPicture && facts.inputModalities?.includes('image') === false) return null;
  const { schema } = asked;
  // The vendor holds no answer to such a schema, and nothing near it would mean the same.
  if (schema?.isOpen === true && upstream === 'generate-content' && fault.param === schema.field) return null;
  const stop = asked.sampled.find(({ parameter }) => parameter === 'stop');
  const mayLack = upstream === 'responses' || facts.parameters.stop === undefined;
  return stop !== undefined && mayLack && fault.param === stop.field ? null : `refused: ${fault.message}`;
}

function complaintsOf(asked: CorpusRequest, wire: Wire, upstream: Surface): readonly string[] {
  const { facts } = wire.target;
  const { body, fault, losses, thought } = outcomeOf(asked, wire);
  const meant = asked.wish === null ? undefined : asked.wish.isOff === true ? 'none' : 'some';
  const misread = thought === meant ? [] : [`thought is read as ${thought}, and meant as ${meant}`];
  if (fault !== null || body === null) {
    const complaint = fault === null ? 'nothing is sent' : refusalComplaint(asked, facts, upstream, fault);
    return complaint === null ? misread : [...misread, complaint];
  }
  const blind = asked.hasPicture && facts.inputModalities?.includes('image') === false;
  const fields = new Set(losses.map(({ field }) => field));
  const it = { asked, facts, upstream, sent: readSent(upstream, body), body, losses: fields };
  const found = [
    ...thoughtComplaints(it),
    ...limitComplaints(it),
    ...parameterComplaints(it),
    ...schemaComplaints(it),
  ];
  return [...misread, ...(blind ? ['a picture is sent to a model that reads none'] : []), ...found];
}

describe('the corpus', () => {
  test.each(surfaces)('has a hundred different requests of %s', (of) => {
    const own = corpus.filter(({ surface }) => surface === of).map(({ body }) => JSON.stringify(body));
    console.log(`${own.length} requests of ${of}`);
    expect(new Set(own).size).toBe(own.length);
    expect(own.length).toBeGreaterThanOrEqual(100);
  });

  test('is of well-known models of many vendors, all of which are known', () => {
    const unknown = corpusModels.filter(
      ([id, name]) => files.models().find(id, name).reasoning.mode === 'unknown',
    );
    expect(unknown).toEqual([]);
    expect(corpusModels.length).toBeGreaterThanOrEqual(25);
    expect(new Set(corpusModels.map(([id]) => id)).size).toBeGreaterThanOrEqual(6);
  });
});

const pairs = surfaces.flatMap((surface) =>
  surfaces.filter((upstream) => upstream !== surface).map((upstream) => [surface, upstream] as const),
);

test.each(pairs)('requests of %s are sent in %s as the model takes them', (surface, upstream) => {
  const requests = corpus.filter((request) => request.surface === surface);
  const complaints = corpusModels.flatMap((model) => {
    const wire = wireTo(surface, upstream, model);
    return requests.flatMap((asked) =>
      complaintsOf(asked, wire, upstream).map(
        (complaint) => `${model[1]} ${JSON.stringify(asked.body)}: ${complaint}`,
      ),
    );
  });
  expect(complaints.slice(0, 20), `${complaints.length} in all`).toEqual([]);
});
