import { beginningOf } from './bytes/whole-text.ts';
import type { UpstreamRefusal } from './protocol.ts';
import { unreachable } from './result.ts';
import { byWord, isRecord, recordOf, type WireRecord } from './wire-values.ts';

type Kind = UpstreamRefusal['kind'];

/** Kept of an upstream's message. Characters. */
const messageCharsMax = 2_000;
/** Kept of an upstream's type, code and param. Characters. */
const wordCharsMax = 300;
/** Members that are told of an object that is no answer. */
const membersToldMax = 8;

const lenientUtf8 = new TextDecoder();

/** Reads what came with an error status. */
export function readRefusal(status: number, body: Uint8Array): UpstreamRefusal {
  const text = lenientUtf8.decode(body);
  const words = readWords(bodyValue(text));
  return words === null ? notOfTheProtocol(status, text) : classify(status, words);
}

const framedData = /^(?:event:.*\r?\n)?data: ?(.*)/;

/** The JSON of a body. Some servers frame an error as an event where a stream was asked for. */
function bodyValue(text: string): unknown {
  return parseJson(framedData.exec(text)?.[1] ?? text);
}

/**
 * When an error's details say to come back: `{"@type": ".../RetryInfo", "retryDelay": "34.4s"}` among them. Milliseconds;
 * null when they do not.
 */
export function readRetryDelayMs(body: Uint8Array): number | null {
  const value = bodyValue(lenientUtf8.decode(body));
  const { error } = recordOf(Array.isArray(value) ? value[0] : value);
  const { details } = recordOf(error);
  const delays = (Array.isArray(details) ? details : []).map((detail) => recordOf(detail)['retryDelay']);
  const delay = delays.find((found) => typeof found === 'string');
  const seconds = /^(\d{1,6}(?:\.\d{1,9})?)s$/.exec(delay ?? '')?.[1];
  return seconds === undefined ? null : Math.ceil(Number(seconds) * 1000);
}

/** Reads what stands in the place of an answer, or in an answer's `error`, whatever the HTTP status was. */
export function readErrorValue(status: number, value: unknown): UpstreamRefusal | null {
  const words = readWords(value);
  return words === null ? null : classify(status, words);
}

/** Errors in the place of an answer, or within a stream, came under this status. */
export const answeredStatus = 200;

/** Reads a value in the place of an answer: an error if it is one in any shape, and otherwise not of the protocol. */
export function refusalOf(value: unknown, text: string): UpstreamRefusal {
  return readErrorValue(answeredStatus, value) ?? notOfTheProtocol(answeredStatus, text);
}

/** Text that is no JSON, or JSON that is no error: a middlebox, a wrong address, or nothing at all. */
function notOfTheProtocol(status: number, text: string): UpstreamRefusal {
  const kind = kindOfBareStatus(status);
  const found = text.trim() === '' ? 'empty body' : `not an answer of this protocol: ${shapeOf(text)}`;
  // The caller is told an upstream's words only, and a middlebox's page is not that.
  const message = kind === 'invalid-request' ? '' : found;
  return { kind, status, message, type: null, code: null, param: null };
}

/** Describes text that nobody can read without a word of it, which may be a caller's, or another caller's. */
function shapeOf(text: string): string {
  const size = `${text.length} characters`;
  if (/^\s*</.test(text)) return `a page of ${size}`;
  if (text.length > errorCharsMax) return `more than ${errorCharsMax} characters`;
  const value = parseJson(text);
  if (Array.isArray(value)) return `a list of ${value.length} in JSON, ${size}`;
  if (isRecord(value)) return `an object in JSON ${membersOf(value)}, ${size}`;
  if (value !== undefined) return `a ${value === null ? 'null' : typeof value} in JSON, ${size}`;
  return /^\s*[[{]/.test(text) ? `JSON that breaks off, ${size}` : `text of ${size}`;
}

/** Names that may be told are those of a protocol: short, and words. */
function membersOf(value: WireRecord): string {
  const names = Object.keys(value).filter((name) => /^[a-z_]{1,32}$/i.test(name));
  return names.length === 0 ? 'without members' : `with ${names.slice(0, membersToldMax).join(', ')}`;
}

/** The refusal of an id where nothing is kept, so that servers have no words for it. */
export function unknownId(id: string): UpstreamRefusal {
  const words = { message: `Not found: ${id}`, type: 'not_found_error', code: null, param: null };
  return { kind: 'answer-missing', status: 404, ...words };
}

/** Statuses that mean the same whoever sends them. */
const bareStatuses: readonly number[] = [401, 402, 408, 409, 413, 414, 422, 425, 429, 431];

/** The kind a status stands for when the body says nothing. A 403, 404 or 400 from a middlebox says nothing about the request. */
function kindOfBareStatus(status: number): Kind {
  return status >= 500 || bareStatuses.includes(status) ? kindOfStatus(status) : 'garbled';
}

function kindOfStatus(status: number): Kind {
  switch (status) {
    case 401:
    case 402:
      return 'credential';
    // Path and method are ours: only the channel can be wrong.
    case 405:
      return 'model-missing';
    case 408:
    case 409:
    case 425:
      return 'conflict';
    case 429:
      return 'rate-limited';
    case 503:
    case 529:
      return 'overloaded';
    default:
      return status >= 400 && status < 500 ? 'invalid-request' : 'server-error';
  }
}

/** An error's own fields, wherever the server puts them. */
interface ErrorWords {
  readonly message: string;
  readonly type: string | null;
  readonly code: string | null;
  readonly param: string | null;
  /** A status inside the body, for errors in the place of an answer. */
  readonly status: number | null;
}

/** Undefined when the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch {
    return undefined;
  }
}

/** Words of errors are not longer than this; what is, is no error that anybody could read. Characters. */
export const errorCharsMax = 256 * 1024;

/** The same of what may be an error: longer text is nothing that could be told. */
export function parseError(text: string): unknown {
  return text.length > errorCharsMax ? undefined : parseJson(text);
}

/** Lists and errors in lists, one in the other; no server is known to go so far. */
const wordsDepthMax = 8;

/**
 * Finds the error in: `{error: {…}}`, `{error: "…"}`, `[{error: {…}}]`, `{message, type, code}` beside `object: "error"`
 * or alone, `{detail: "…"}`, `{detail: [{loc, msg}]}`, `{errors: [{…}]}`. Null when there is none.
 */
function readWords(value: unknown, depth = 0): ErrorWords | null {
  if (typeof value === 'string' && value !== '') return wordsOf({ message: value });
  if (depth === wordsDepthMax) return null;
  if (Array.isArray(value)) return readWords(value[0], depth + 1);
  if (!isRecord(value)) return null;
  if (isRecord(value['error'])) return wordsOf(value['error'], value);
  for (const nested of [value['error'], value['errors'], value['detail']]) {
    if (text(nested) !== null || Array.isArray(nested)) return readWords(nested, depth + 1);
  }
  const hasMessage = [value['message'], value['msg'], value['detail']].some(
    (member) => text(member) !== null,
  );
  return hasMessage ? wordsOf(value) : null;
}

function wordsOf(error: WireRecord, around: WireRecord = {}): ErrorWords | null {
  const message =
    text(error['message']) ?? text(error['msg']) ?? text(error['detail']) ?? text(around['message']);
  const type = text(error['type']) ?? text(error['status']);
  const code =
    text(error['code']) ?? numberText(error['code']) ?? text(recordOf(error['details'])['error_code']);
  if (message === null && type === null && code === null) return null;
  return {
    message: beginningOf(message ?? type ?? code ?? '', messageCharsMax),
    type: wholeWord(type),
    code: wholeWord(code),
    param: wholeWord(text(error['param'])),
    status: errorStatus(error['status_code']) ?? errorStatus(error['code']) ?? errorStatus(error['status']),
  };
}

function classify(httpStatus: number, words: ErrorWords): UpstreamRefusal {
  const status = httpStatus >= 400 ? httpStatus : words.status;
  const kind = kindOfWords(status, words) ?? kindOfVagueStatus(status ?? statusOfWords(words), words);
  return {
    kind,
    status: httpStatus,
    message: words.message,
    type: words.type,
    code: words.code,
    param: words.param,
  };
}

/** Two statuses mean nothing for certain: a caller can provoke both, so words must say that it was not the caller. */
function kindOfVagueStatus(status: number, words: ErrorWords): Kind {
  if (status === 403) return kindOfForbidden(plainOf(words.message));
  if (status === 404) {
    const isModel = words.param === 'model' || wrongAddress.test(plainOf(words.message));
    return isModel ? 'model-missing' : 'invalid-request';
  }
  return kindOfStatus(status);
}

/** Words that servers have for a path, not for something the request names. */
const wrongAddress = /^(resource )?not found\W*$/;

const refusedContent =
  /^(content|((your|the|this) )?(request|input|prompt|message|content|output|image)s?)\b.{0,100}\b(violat|flagged|moderation|safety|usage guidelines)/;
const accountWords =
  /\b(api[ _-]?keys?|accounts?|organi[sz]ations?|projects?|teams?|workspaces?|subscriptions?|your (current )?plan|billing|credits?|balance|quota|suspended|deactivated|country|region|territory|user location|ip address|unregistered callers|security token)\b|\b(to|access|use) .{0,30}\b(this|the) model\b/;
const policyWords = /\bviolat|\bflagged\b|\bmoderation\b|\bsafety\b|\busage guidelines\b|\bcontent policy\b/;

/** Something a caller may do without: the account may well be good for all else. */
const featureWords =
  /\b(features?|tools?|tool use|functions?|web[ _]search|code[ _](execution|interpreter)|computer[ _]use|file[ _]search|connectors?|mcp servers?|beta headers?|betas?|(fast|background|batch|flex|priority) (mode|tier|processing)|service[ _]tiers?|prompt caching|fine-tun\w+|long context|context-1m)\b.{0,80}(\b(not|requires?|only|disabled|unavailable|denied)|n't)\b|(\b(not|cannot)|n't)\b.{0,60}\b(feature|tool|web[ _]search|code[ _]execution|computer[ _]use|service[ _]tier|beta)\b|^you are not allowed to (request|use) (?!this\b|the\b)[\w ]{1,60} (from|with|on|for) (this|the) model\b/;

/** One without a reason may be tried elsewhere once; nobody is told that a key is bad, and no second channel is doubted. */
function kindOfForbidden(plain: string): Kind {
  if (refusedContent.test(plain)) return 'content-policy';
  if (featureWords.test(plain)) return 'conflict';
  if (accountWords.test(plain)) return 'credential';
  return policyWords.test(plain) ? 'content-policy' : 'conflict';
}

/** The status an error without one stands for. */
function statusOfWords(words: ErrorWords): number {
  const type = words.type ?? '';
  if (/invalid_request|invalid_argument|badrequest/i.test(type)) return 400;
  if (/authentication|unauthenticated/i.test(type)) return 401;
  // The codes of a response that failed over a picture of the caller's: `invalid_image`, `image_too_large` and more.
  if ((words.type ?? words.code) === words.code && /(^|_)image(_|$)/.test(words.code ?? '')) return 400;
  return statusesByType.get(type) ?? 500;
}

/** The types that a protocol pairs with a status and says nothing else by. */
const statusesByType: ReadonlyMap<string, number> = new Map([
  ['permission_error', 403],
  ['not_found_error', 404],
  ['conflict_error', 409],
  ['request_too_large', 413],
]);

/** Kinds that a code or type names, whatever the status. Lower case. */
const kindsByCode: ReadonlyMap<string, Kind> = byWord({
  'content-policy': `
    content_policy_violation content_filter responsibleaipolicyviolation data_inspection_failed
    datainspectionfailed moderation_blocked invalid_prompt image_content_policy_violation bio_policy
    cyber_policy misalignment_policy_violation`,
  'answer-missing': 'previous_response_not_found',
  'context-length': 'context_length_exceeded context_window_exceeded',
  credential: `
    invalid_api_key invalid_api_key_error authentication_error unauthenticated insufficient_quota
    insufficient_balance exceeded_current_quota_error billing_error billing_not_active
    billing_hard_limit_reached account_deactivated organization_restricted access_terminated
    arrearage unsupported_country_region_territory`,
  'model-missing':
    'model_not_found model_not_exist modelnotfound model_not_available invalid_model deploymentnotfound',
  'rate-limited': `
    rate_limit_exceeded rate_limit_error rate_limit_reached_error resource_exhausted
    throttlingexception`,
  overloaded: `
    overloaded overloaded_error engine_overloaded_error service_unavailable_error
    server_is_overloaded slow_down insufficient_system_resource`,
});

/** A model's name in a message, where nothing but a name may stand between two words of the server. */
const modelName = '[\\w./:@+-]{1,200}';

/**
 * Kinds that are told in words only. The words are looked for at the beginning, and after quoted text is taken out: a caller whose
 * own words an upstream repeats must not be able to put a channel out of service.
 */
const kindsByMessage: readonly (readonly [RegExp, Kind])[] = [
  [/^model: [\w./:@+-]{1,200}$/, 'model-missing'],
  [/^your credit balance is too low|^credit balance (is )?too low/, 'credential'],
  [/^insufficient (account )?(balance|credits?|funds|quota)\b/, 'credential'],
  [/^(incorrect|invalid) api key|^api key not valid|^api key expired/, 'credential'],
  [/^this request requires more credits|^you (have )?exceeded your (monthly )?(spend|budget)/, 'credential'],
  [/^user location is not supported\b|^account( [\w-]{1,64})? is suspended\b/, 'credential'],
  [
    new RegExp(
      `^((the|this|requested|specified) )*models?([ /]${modelName})?,? ((is |was )?not found|(does )?not exist|is not supported(?= by any provider|\\s*([.,;]|$)))\\b`,
    ),
    'model-missing',
  ],
  [
    new RegExp(`^(unknown|no such|invalid) model( name| id)?(\\s*([:.,]|$)| passed in\\b| ${modelName}$)`),
    'model-missing',
  ],
  // Things that are kept upstream, in the words of the servers that keep them.
  [/^conversation with id not found\b/, 'answer-missing'],
  [/^cached ?content( \w{1,100})? (is )?not found\b|^not found: cached content\b/, 'answer-missing'],
  [/^no endpoints found for\b|^not found the model\b/, 'model-missing'],
  [/^this model's maximum context length|^prompt is too long|^input is too long/, 'context-length'],
  [
    /\bmaximum context length\b|\bcontext (length|window|size)\b.{0,80}\bexceed|\bexceed.{0,80}\bcontext (length|window|size)\b/,
    'context-length',
  ],
  [/\binput token count\b.{0,80}\bexceeds\b|\bmaximum number of (input )?tokens\b/, 'context-length'],
  [
    /\bcontent (management )?policy\b|\bcontent[ _-]filter|\bour safety system\b|\bflagged by\b.{0,40}\bmoderation\b/,
    'content-policy',
  ],
  [/\boverloaded\b|\b(at|over) capacity\b|^slow down\b/, 'overloaded'],
  [/^rate limit\b|^too many requests\b/, 'rate-limited'],
];

/** Larger than a limit is even when nothing else is asked for: waiting does not help, whatever code it comes with. */
const tooLarge = /^request too large\b/;

/** `status` is null when there is none to be held against the words: they came in the place of an answer. */
function kindOfWords(status: number | null, words: ErrorWords): Kind | null {
  if ((status ?? 0) < 500 && tooLarge.test(plainOf(words.message))) return 'context-length';
  const byCode =
    kindsByCode.get(words.code?.toLowerCase() ?? '') ?? kindsByCode.get(words.type?.toLowerCase() ?? '');
  const kind = byCode ?? kindByMessage(words.message);
  // A model within a tool is the caller's word, and not the one that was asked.
  if (kind === 'model-missing' && isNested(words.param)) return 'invalid-request';
  return kind !== null && (status === null || isPlausible(kind, status)) ? kind : null;
}

/** `tools[0].model`, `fallbacks.1`: a place within a member. */
function isNested(param: string | null): boolean {
  return param !== null && /[.[]/.test(param);
}

function kindByMessage(message: string): Kind | null {
  const plain = plainOf(message);
  return kindsByMessage.find(([pattern]) => pattern.test(plain))?.[1] ?? null;
}

/** In lower case, on one line, without what is quoted. */
function plainOf(message: string): string {
  return message
    .toLowerCase()
    .replace(/`[^`]*`|"[^"]*"|(?<!\w)'[^']*'/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
}

/** A status that already says it better keeps its say. */
function isPlausible(kind: Kind, status: number): boolean {
  switch (kind) {
    case 'content-policy':
    case 'context-length':
    case 'model-missing':
      return status < 500 && status !== 429 && status !== 401 && status !== 402;
    case 'credential':
      return status < 500;
    case 'rate-limited':
      return status !== 401 && status !== 402;
    case 'overloaded':
      return status === 429 || status >= 500;
    case 'invalid-request':
    case 'answer-missing':
    case 'conflict':
    case 'server-error':
    case 'garbled':
    case 'blank':
      return true;
    default:
      return unreachable(kind);
  }
}

/** A short text, without halves of characters: it goes into logs, the ledger and to callers. */
function wholeWord(word: string | null): string | null {
  return word === null ? null : beginningOf(word, wordCharsMax);
}

function text(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

function numberText(value: unknown): string | null {
  return typeof value === 'number' ? String(value) : null;
}

function errorStatus(value: unknown): number | null {
  const status = typeof value === 'string' ? Number(value) : value;
  return typeof status === 'number' && Number.isInteger(status) && status >= 400 && status < 600
    ? status
    : null;
}
