import { type Fault, fail, fault, type Result, succeed } from '@headgate/protocols';
import type { Model } from '../../core/catalogue.ts';

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

/** What is not known is left out. */
export function nativeModelView(model: Model) {
  return {
    name: `models/${model.id}`,
    displayName: model.displayName,
    inputTokenLimit: model.contextWindow ?? undefined,
    outputTokenLimit: model.maxOutputTokens ?? undefined,
    supportedGenerationMethods: ['generateContent', 'streamGenerateContent', 'countTokens'],
    thinking: model.reasoning,
  };
}
