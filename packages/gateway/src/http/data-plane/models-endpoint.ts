import { type Fault, fail, fault, type Result, succeed } from '@headgate/protocols';
import { type Caller, type Catalogue, type Model, mayCall } from '../../core/catalogue.ts';

/** Models the key may call and that some channel serves, in the order of their ids. */
function callableModels(caller: Caller, catalogue: Catalogue): readonly Model[] {
  return [...catalogue.models.values()]
    .filter((model) => isCallable(model, caller))
    .sort((a, b) => (a.id < b.id ? -1 : 1));
}

function isCallable(model: Model, caller: Caller): boolean {
  return model.targets.length > 0 && mayCall(caller, model.id);
}

/** `GET /v1/models`: the union of what the completions and messages SDKs expect, and for native keys their own list too. */
export function listModels(caller: Caller, catalogue: Catalogue): object {
  const models = callableModels(caller, catalogue);
  const list = {
    object: 'list',
    data: models.map(modelView),
    has_more: false,
    first_id: models[0]?.id ?? null,
    last_id: models.at(-1)?.id ?? null,
  };
  return caller.group.platform === 'native' ? { ...list, models: models.map(nativeModelView) } : list;
}

/** `GET /v1/models/{id}`. */
export function findModel(id: string, caller: Caller, catalogue: Catalogue): Result<object, Fault> {
  const model = catalogue.models.get(id);
  if (model !== undefined && isCallable(model, caller)) return succeed(modelView(model));
  return fail(
    fault('model_not_found', {
      message: `The model '${id.slice(0, 200)}' does not exist or this key may not use it; GET /v1/models lists what it may.`,
      param: 'model',
    }),
  );
}

function modelView(model: Model) {
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
    input_modalities: model.inputModalities,
    output_modalities: model.outputModalities,
    capabilities: model.capabilities,
  };
}

function nativeModelView(model: Model) {
  return {
    name: `models/${model.id}`,
    displayName: model.displayName,
    inputTokenLimit: model.contextWindow,
    outputTokenLimit: model.maxOutputTokens,
    supportedGenerationMethods: ['generateContent', 'streamGenerateContent', 'countTokens'],
  };
}
