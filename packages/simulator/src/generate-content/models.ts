import { simulatedModels } from '../models.ts';
import type { LookUp } from '../protocol.ts';

const modelsPath = /^\/v1(?:beta|alpha)\/models(?:\/([^/]+))?$/;

/** The list in pages of `pageSize`, or one of its entries. `/v1/models` is left to the other protocols, who share it. */
export function lookUp(path: string, query: string): LookUp | null {
  const match = modelsPath.exec(path);
  if (match === null) return null;
  const [, id] = match;
  return id === undefined ? listPage(new URLSearchParams(query)) : lookUpModel(decodeURIComponent(id));
}

function listPage(query: URLSearchParams): LookUp {
  const size = Number(query.get('pageSize') ?? 50);
  const start = Number(query.get('pageToken') ?? 0);
  const end = start + size;
  const models = simulatedModels.slice(start, end).map(({ id }) => encodeModel(id));
  const next = end < simulatedModels.length ? { nextPageToken: String(end) } : {};
  return { ok: true, body: JSON.stringify({ models, ...next }) };
}

function lookUpModel(id: string): LookUp {
  if (simulatedModels.some((model) => model.id === id))
    return { ok: true, body: JSON.stringify(encodeModel(id)) };
  const message = `Model is not found: models/${id} for api version v1beta`;
  return { ok: false, complaint: { status: 404, code: null, message, param: null } };
}

function encodeModel(id: string) {
  return {
    name: `models/${id}`,
    version: '001',
    displayName: id,
    description: 'Made-up answers of known length.',
    inputTokenLimit: 1_000_000,
    outputTokenLimit: 100_000,
    supportedGenerationMethods: ['generateContent', 'countTokens', 'embedContent'],
  };
}
