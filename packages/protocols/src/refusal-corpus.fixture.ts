import type { UpstreamRefusal } from './protocol.ts';
import type { ProtocolId } from './protocols.ts';

/** Who has to change something: the caller, or the operator about a model, a feature, a credential or the whole channel. */
export type AtFault = 'request' | 'model' | 'feature' | 'credential' | 'channel';

/** The fault that a kind of refusal stands for. */
export const faultOfKind = {
  'invalid-request': 'request',
  'context-length': 'request',
  'content-policy': 'request',
  'answer-missing': 'request',
  'model-missing': 'model',
  conflict: 'feature',
  credential: 'credential',
  'rate-limited': 'channel',
  overloaded: 'channel',
  'server-error': 'channel',
  garbled: 'channel',
  blank: 'channel',
} as const satisfies Record<UpstreamRefusal['kind'], AtFault>;

/** One refusal as a vendor words it; names of models and ids are made up. */
export interface RefusalText {
  readonly vendor: string;
  readonly protocol: ProtocolId;
  readonly status: number;
  readonly body: unknown;
  readonly fault: AtFault;
}

type Row = readonly [status: number, body: unknown, fault: AtFault];

function of(vendor: string, protocol: ProtocolId, rows: readonly Row[]): readonly RefusalText[] {
  return rows.map(([status, body, fault]) => ({ vendor, protocol, status, body, fault }));
}

const chat = (message: string, type: string | null, code: unknown = null, param: string | null = null) => ({
  error: { message, type, param, code },
});
const messages = (type: string, message: string) => ({
  type: 'error',
  error: { type, message },
  request_id: 'req_1',
});
const native = (code: number, status: string, message: string) => ({ error: { code, message, status } });

const invalid = 'invalid_request_error';

export const refusalTexts: readonly RefusalText[] = [
  ...of('openai', 'chat-completions', [
    [
      401,
      chat(
        'Incorrect API key provided: sk-ab****yz. You can find your API key at the account page.',
        invalid,
        'invalid_api_key',
      ),
      'credential',
    ],
    [401, chat('You must be a member of an organization to use the API.', invalid), 'credential'],
    [
      403,
      chat(
        'Country, region, or territory not supported',
        'request_forbidden',
        'unsupported_country_region_territory',
      ),
      'credential',
    ],
    [403, chat('Project `proj_1` does not have access to model `m-1`', invalid, 'model_not_found'), 'model'],
    [403, chat('You are not allowed to request logprobs from this model', invalid), 'feature'],
    [
      404,
      chat('The model `m-1` does not exist or you do not have access to it.', invalid, 'model_not_found'),
      'model',
    ],
    [404, chat("The model 'm-2' does not exist", invalid, 'model_not_found', 'tools[0].model'), 'request'],
    [
      429,
      chat(
        'You exceeded your current quota, please check your plan and billing details.',
        'insufficient_quota',
        'insufficient_quota',
      ),
      'credential',
    ],
    [
      429,
      chat(
        'Rate limit reached for m-1 in organization org-1 on tokens per min (TPM): Limit 30000.',
        'tokens',
        'rate_limit_exceeded',
      ),
      'channel',
    ],
    [
      429,
      chat(
        'Request too large for m-1 in organization org-1 on tokens per min (TPM): Limit 30000, Requested 90000.',
        'tokens',
        'rate_limit_exceeded',
      ),
      'request',
    ],
    [
      400,
      chat(
        "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
        invalid,
        'context_length_exceeded',
        'messages',
      ),
      'request',
    ],
    [
      400,
      chat(
        "Unsupported parameter: 'max_tokens' is not supported with this model.",
        invalid,
        'unsupported_parameter',
        'max_tokens',
      ),
      'request',
    ],
    [400, chat('Billing hard limit has been reached', invalid, 'billing_hard_limit_reached'), 'credential'],
    [503, chat('The engine is currently overloaded, please try again later', 'server_error'), 'channel'],
  ]),
  ...of('openai', 'responses', [
    [
      400,
      chat(
        "Previous response with id 'resp_1' not found.",
        invalid,
        'previous_response_not_found',
        'previous_response_id',
      ),
      'request',
    ],
    [
      400,
      chat("The requested model 'm-2' does not exist.", invalid, 'model_not_found', 'tools[1].model'),
      'request',
    ],
    [400, chat("The requested model 'm-1' does not exist.", invalid, 'model_not_found', 'model'), 'model'],
    [
      400,
      chat("Hosted tool 'web_search_preview' is not supported with m-1.", invalid, null, 'tools'),
      'request',
    ],
    [
      400,
      chat(
        'Your input image may contain content that is not allowed by our safety system.',
        'image_generation_user_error',
        'moderation_blocked',
      ),
      'request',
    ],
    [
      403,
      chat(
        'Your organization must be verified to stream this model.',
        invalid,
        'unsupported_value',
        'stream',
      ),
      'credential',
    ],
  ]),
  ...of('azure-openai', 'chat-completions', [
    [
      401,
      {
        error: {
          code: '401',
          message: 'Access denied due to invalid subscription key or wrong API endpoint.',
        },
      },
      'credential',
    ],
    [
      404,
      {
        error: {
          code: 'DeploymentNotFound',
          message: 'The API deployment for this resource does not exist.',
        },
      },
      'model',
    ],
    [404, { error: { code: '404', message: 'Resource not found' } }, 'model'],
    [
      400,
      {
        error: {
          code: 'content_filter',
          message: 'The response was filtered due to the prompt triggering the content management policy.',
          status: 400,
        },
      },
      'request',
    ],
    [
      429,
      {
        error: {
          code: '429',
          message:
            'Requests to the ChatCompletions operation have exceeded the token rate limit of your current pricing tier.',
        },
      },
      'channel',
    ],
  ]),
  ...of('anthropic', 'messages', [
    [401, messages('authentication_error', 'invalid x-api-key'), 'credential'],
    [
      400,
      messages(invalid, 'Your credit balance is too low to access the API. Please go to Plans & Billing.'),
      'credential',
    ],
    [
      403,
      messages('permission_error', 'Your API key does not have permission to use the specified resource.'),
      'credential',
    ],
    [
      403,
      messages('permission_error', 'The web search tool is not enabled for your organization.'),
      'feature',
    ],
    [
      403,
      messages(
        'permission_error',
        'This feature requires the beta header context-1m, which is not available.',
      ),
      'feature',
    ],
    [404, messages('not_found_error', 'model: m-1'), 'model'],
    [404, messages('not_found_error', 'File not found: file_1'), 'request'],
    [400, messages(invalid, 'prompt is too long: 210000 tokens > 200000 maximum'), 'request'],
    [400, messages(invalid, 'tools.0.model: model not found'), 'request'],
    [413, messages('request_too_large', 'Request exceeds the maximum allowed number of bytes.'), 'request'],
    [
      429,
      messages('rate_limit_error', 'This request would exceed the rate limit for your organization.'),
      'channel',
    ],
    [529, messages('overloaded_error', 'Overloaded'), 'channel'],
    [500, messages('api_error', 'Internal server error'), 'channel'],
  ]),
  ...of('amazon-bedrock', 'messages', [
    [403, { message: "You don't have access to the model with the specified model ID." }, 'credential'],
    [403, { message: 'The security token included in the request is expired' }, 'credential'],
    [400, { message: 'Input is too long for requested model.' }, 'request'],
    [429, { message: 'Too many requests, please wait before trying again.' }, 'channel'],
  ]),
  ...of('google', 'generate-content', [
    [400, native(400, 'INVALID_ARGUMENT', 'API key not valid. Please pass a valid API key.'), 'credential'],
    [
      400,
      native(400, 'FAILED_PRECONDITION', 'User location is not supported for the API use.'),
      'credential',
    ],
    [
      403,
      native(
        403,
        'PERMISSION_DENIED',
        "Method doesn't allow unregistered callers (callers without established identity).",
      ),
      'credential',
    ],
    [
      403,
      native(403, 'PERMISSION_DENIED', 'You do not have permission to access tuned model tunedModels/x.'),
      'feature',
    ],
    [
      404,
      native(
        404,
        'NOT_FOUND',
        'models/m-1 is not found for API version v1beta, or is not supported for generateContent.',
      ),
      'model',
    ],
    [404, native(404, 'NOT_FOUND', 'CachedContent not found (or permission denied)'), 'request'],
    [
      400,
      native(
        400,
        'INVALID_ARGUMENT',
        'The input token count (1100000) exceeds the maximum number of tokens allowed (1048576).',
      ),
      'request',
    ],
    [
      400,
      native(400, 'INVALID_ARGUMENT', 'Function calling config is set without function_declarations.'),
      'request',
    ],
    [
      429,
      native(
        429,
        'RESOURCE_EXHAUSTED',
        'You exceeded your current quota, please check your plan and billing details.',
      ),
      'channel',
    ],
    [503, native(503, 'UNAVAILABLE', 'The model is overloaded. Please try again later.'), 'channel'],
  ]),
  ...of('mistral', 'chat-completions', [
    [401, { message: 'Unauthorized', request_id: '1' }, 'credential'],
    [
      400,
      { object: 'error', message: 'Invalid model: m-1', type: 'invalid_model', param: null, code: '1500' },
      'model',
    ],
    [422, { detail: [{ type: 'missing', loc: ['body', 'messages'], msg: 'Field required' }] }, 'request'],
    [
      429,
      {
        object: 'error',
        message: 'Service tier capacity exceeded for this model.',
        type: 'service_tier_capacity_exceeded',
        code: '3505',
      },
      'channel',
    ],
  ]),
  ...of('deepseek', 'chat-completions', [
    [
      401,
      chat('Authentication Fails, Your api key: ****abcd is invalid', 'authentication_error', invalid),
      'credential',
    ],
    [402, chat('Insufficient Balance', 'unknown_error', invalid), 'credential'],
    [400, chat('Model Not Exist', invalid, invalid), 'model'],
  ]),
  ...of('groq', 'chat-completions', [
    [401, chat('Invalid API Key', invalid, 'invalid_api_key'), 'credential'],
    [
      404,
      chat('The model `m-1` does not exist or you do not have access to it.', invalid, 'model_not_found'),
      'model',
    ],
    [
      413,
      chat(
        'Request too large for model `m-1` in organization `org_1` on tokens per minute (TPM).',
        'tokens',
        'rate_limit_exceeded',
      ),
      'request',
    ],
    [
      400,
      chat('Failed to call a function. Please adjust your prompt.', invalid, 'tool_use_failed'),
      'request',
    ],
    [400, chat('Organization has been restricted.', invalid, 'organization_restricted'), 'credential'],
  ]),
  ...of('xai', 'chat-completions', [
    [
      400,
      {
        code: 'Client specified an invalid argument',
        error: 'Incorrect API key provided: xa***. You can obtain an API key from the console.',
      },
      'credential',
    ],
    [
      404,
      {
        code: 'Some requested entity was not found',
        error: 'The model m-1 does not exist or your team does not have access to it.',
      },
      'model',
    ],
    [
      403,
      {
        code: 'The caller does not have permission',
        error: 'Your team has either used all available credits or reached its monthly spending limit.',
      },
      'credential',
    ],
  ]),
  ...of('openrouter', 'chat-completions', [
    [
      402,
      { error: { message: 'This request requires more credits, or fewer max_tokens.', code: 402 } },
      'credential',
    ],
    [404, { error: { message: 'No endpoints found for m-1.', code: 404 } }, 'model'],
    [400, { error: { message: 'm-1 is not a valid model ID', code: 400 } }, 'request'],
    [
      403,
      { error: { message: 'm-1 requires moderation. Your input was flagged for "harassment".', code: 403 } },
      'request',
    ],
    [401, { error: { message: 'User not found.', code: 401 } }, 'credential'],
  ]),
  ...of('together', 'chat-completions', [
    [
      404,
      chat('Unable to access model m-1. Please visit the page of models.', invalid, 'model_not_available'),
      'model',
    ],
    [
      422,
      chat('Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4097.', invalid),
      'request',
    ],
  ]),
  ...of('fireworks', 'chat-completions', [
    [
      404,
      chat('Model not found, inaccessible, and/or not deployed', 'invalid_request_error', 'NOT_FOUND'),
      'model',
    ],
    [412, chat('Account is suspended', 'error'), 'credential'],
  ]),
  ...of('alibaba', 'chat-completions', [
    [
      400,
      chat('Access denied, please make sure your account is in good standing.', 'Arrearage', 'Arrearage'),
      'credential',
    ],
    [
      400,
      chat(
        'Input data may contain inappropriate content.',
        'data_inspection_failed',
        'data_inspection_failed',
      ),
      'request',
    ],
    [
      404,
      chat('The model `m-1` does not exist or you do not have access to it.', invalid, 'model_not_found'),
      'model',
    ],
    [
      403,
      chat(
        'The free tier of the model has been exhausted.',
        'AllocationQuota.FreeTierOnly',
        'AllocationQuota.FreeTierOnly',
      ),
      'feature',
    ],
  ]),
  ...of('moonshot', 'chat-completions', [
    [401, chat('Invalid Authentication', 'invalid_authentication_error'), 'credential'],
    [404, chat('Not found the model m-1 or Permission denied', 'resource_not_found_error'), 'model'],
    [
      429,
      chat('Your account is suspended due to insufficient balance.', 'exceeded_current_quota_error'),
      'credential',
    ],
    [
      429,
      chat('The engine is currently overloaded, please try again later', 'engine_overloaded_error'),
      'channel',
    ],
  ]),
  ...of('zhipu', 'chat-completions', [
    [429, { error: { code: '1302', message: '您的账户已达到速率限制' } }, 'channel'],
    [400, { error: { code: '1211', message: 'Unknown Model, please check the model code.' } }, 'model'],
  ]),
  ...of('vllm', 'chat-completions', [
    [
      404,
      {
        object: 'error',
        message: 'The model `m-1` does not exist.',
        type: 'NotFoundError',
        param: null,
        code: 404,
      },
      'model',
    ],
    [
      400,
      {
        object: 'error',
        message: "This model's maximum context length is 4096 tokens.",
        type: 'BadRequestError',
        code: 400,
      },
      'request',
    ],
  ]),
  ...of('nginx', 'messages', [
    [502, '<html><head><title>502 Bad Gateway</title></head></html>', 'channel'],
    [403, '<html><head><title>403 Forbidden</title></head></html>', 'channel'],
    [404, '<html><head><title>404 Not Found</title></head></html>', 'channel'],
    [413, '<html><head><title>413 Request Entity Too Large</title></head></html>', 'request'],
  ]),
];
