import {
  endpoints,
  type Fault,
  fail,
  fault,
  type ProtocolId,
  type Result,
  succeed,
} from '@headgate/protocols';
import {
  type Caller,
  type Catalogue,
  canServe,
  type Model,
  mayCall,
  modelNotFound,
} from '../catalogue/catalogue.ts';
import { type ModelFacts, takesReasoning } from '../catalogue/model-facts.ts';

/** The protocols this build speaks. */
type Served = Readonly<Partial<Record<ProtocolId, unknown>>>;

/** Bytes of lists that are kept. Keys with lists of their own are few beside groups. */
const keptBytesMax = 16 * 1024 * 1024;
/** The same of lists of models, each of which is one reference a model. */
const keptListsMax = 1_000;

/**
 * The lists of models that callers ask for again and again, each made once until the catalogue is another: for all keys of a group
 * together, and for each key that has a list of its own.
 */
export class ModelLists {
  readonly #catalogue: { readonly current: Catalogue };
  readonly #served: Served;
  #snapshot: Catalogue | null = null;
  readonly #models = new Map<string, readonly Model[]>();
  readonly #texts = new Map<string, Buffer>();
  #keptBytes = 0;

  constructor(catalogue: { readonly current: Catalogue }, served: Served) {
    this.#catalogue = catalogue;
    this.#served = served;
  }

  /** The models that the caller can call, in the order of their ids. */
  modelsOf(caller: Caller): readonly Model[] {
    const owner = this.#ownerOf(caller);
    const kept = this.#models.get(owner);
    if (kept !== undefined) return kept;
    const models = callableModels(caller, this.#catalogue.current, this.#served);
    if (this.#models.size >= keptListsMax) this.#models.clear();
    this.#models.set(owner, models);
    return models;
  }

  /** The answer to `GET /v1/models`, JSON. */
  answerTo(caller: Caller): Uint8Array {
    const owner = this.#ownerOf(caller);
    const kept = this.#texts.get(owner);
    if (kept !== undefined) return kept;
    const text = Buffer.from(JSON.stringify(listModels(caller, this.modelsOf(caller))));
    if (text.length > keptBytesMax) return text;
    this.#keptBytes += text.length;
    if (this.#keptBytes > keptBytesMax) {
      this.#texts.clear();
      this.#keptBytes = text.length;
    }
    this.#texts.set(owner, text);
    return text;
  }

  /** Whose list it is, in the catalogue at hand. Ids have no line ends. */
  #ownerOf({ group, keyId, models }: Caller): string {
    if (this.#snapshot !== this.#catalogue.current) {
      this.#snapshot = this.#catalogue.current;
      this.#models.clear();
      this.#texts.clear();
      this.#keptBytes = 0;
    }
    return models === null ? group.id : `${group.id}\n${keyId}`;
  }
}

/** Models the key may call, that have a price and that some channel serves on its surface, in the order of their ids. */
function callableModels(caller: Caller, catalogue: Catalogue, served: Served): readonly Model[] {
  const spoken = protocolsOf(caller, served);
  return [...catalogue.models.values()]
    .filter((model) => isCallable(model, caller, spoken))
    .sort((a, b) => (a.id < b.id ? -1 : 1));
}

function isCallable(model: Model, caller: Caller, spoken: readonly ProtocolId[]): boolean {
  return (
    model.isOffered &&
    mayCall(caller, model.id) &&
    model.targets.some((target) => spoken.some((protocol) => canServe(target, protocol)))
  );
}

function protocolsOf({ group }: Caller, served: Served): readonly ProtocolId[] {
  return endpoints.flatMap((endpoint) =>
    endpoint.kind === 'call' && endpoint.platform === group.platform && endpoint.protocol in served
      ? [endpoint.protocol]
      : [],
  );
}

/** `GET /v1/models`: the union of what the completions and messages SDKs expect, and for native keys their own list too. */
function listModels(caller: Caller, models: readonly Model[]): object {
  const list = {
    object: 'list',
    data: models.map(sharedView),
    has_more: false,
    first_id: models[0]?.id ?? null,
    last_id: models.at(-1)?.id ?? null,
  };
  return caller.group.platform === 'native' ? { ...list, models: models.map(nativeModelView) } : list;
}

/** One of those models, or the fault of who asks for another. */
export function findModel(
  id: string,
  caller: Caller,
  catalogue: Catalogue,
  served: Served,
): Result<Model, Fault> {
  const model = catalogue.models.get(id);
  const isTheirs = model !== undefined && isCallable(model, caller, protocolsOf(caller, served));
  return isTheirs ? succeed(model) : fail(modelNotFound(id));
}

/** `GET /v1/models/{id}`: the same union, of one. */
export function modelView(model: Model, { group }: Caller): object {
  return group.platform === 'native'
    ? { ...sharedView(model), ...nativeModelView(model) }
    : sharedView(model);
}

function sharedView(model: Model) {
  return {
    id: model.id,
    object: 'model',
    created: model.created,
    owned_by: model.ownedBy,
    type: 'model',
    display_name: model.displayName,
    created_at: new Date(model.created * 1000).toISOString(),
    context_window: model.contextWindow,
    max_output_tokens: model.maxOutputTokens,
    // The same two as the messages SDK names them.
    max_input_tokens: model.facts.maxInputTokens ?? model.contextWindow,
    max_tokens: model.maxOutputTokens,
    input_modalities: model.inputModalities,
    output_modalities: model.outputModalities,
    capabilities: model.capabilities,
    supported_parameters: supportedParameters(model.facts),
  };
}

/** The parameters known to be accepted, at least where the model does not think; null when nothing is known of any. */
function supportedParameters({ parameters, reasoning, tools, structuredOutput }: ModelFacts) {
  const known = { ...parameters, tools, response_format: structuredOutput };
  const accepted = Object.entries(known).flatMap(([name, how]) => (how ? [name] : []));
  if ((reasoning.efforts?.length ?? 0) > 0) accepted.push('reasoning_effort');
  return accepted.length === 0 ? null : accepted;
}

const pageSizeDefault = 50;
const pageSizeMax = 1000;

/**
 * `GET /v1beta/models`: the models, which are in the order of their ids, a page at a time. A page's token is the last id
 * of the one before it, so that what changes in between moves nothing.
 */
export function listNativeModels(search: string, models: readonly Model[]): Result<object, Fault> {
  const query = new URLSearchParams(search);
  const size = readPageSize(query.get('pageSize') ?? query.get('page_size'));
  if (!size.ok) return size;
  const after = query.get('pageToken') ?? query.get('page_token') ?? '';
  const rest = models.filter(({ id }) => id > after);
  const page = rest.slice(0, size.value);
  const last = page.at(-1);
  const isMore = last !== undefined && rest.length > page.length;
  return succeed({ models: page.map(nativeModelView), ...(isMore ? { nextPageToken: last.id } : {}) });
}

/** As this protocol has it: larger pages than there are become the largest, and none at all is the default. */
function readPageSize(text: string | null): Result<number, Fault> {
  if (text === null || text === '' || text === '0') return succeed(pageSizeDefault);
  if (/^\d{1,9}$/.test(text)) return succeed(Math.min(Number(text), pageSizeMax));
  const message = `'pageSize' must be a whole number up to ${pageSizeMax}, or be left out.`;
  return fail(fault('invalid_request', { message, param: 'pageSize' }));
}

/** A member that is not known is left out. */
export function nativeModelView(model: Model) {
  return {
    name: `models/${model.id}`,
    displayName: model.displayName,
    inputTokenLimit: model.contextWindow ?? undefined,
    outputTokenLimit: model.maxOutputTokens ?? undefined,
    supportedGenerationMethods: ['generateContent', 'streamGenerateContent', 'countTokens'],
    thinking: takesReasoning(model.facts),
  };
}
