import { describe, expect, test } from 'vitest';
import { chatCompletions } from './index.ts';

const encoder = new TextEncoder();
const read = (status: number, body: unknown) =>
  chatCompletions.readRefusal(status, encoder.encode(typeof body === 'string' ? body : JSON.stringify(body)));

const error = (
  message: string,
  code: unknown = null,
  type = 'invalid_request_error',
  param: string | null = null,
) => ({ error: { message, type, param, code } });

describe('readRefusal', () => {
  test('keeps the words', () => {
    const body = {
      error: {
        message: 'No such role',
        type: 'invalid_request_error',
        param: 'messages[0].role',
        code: 'invalid_value',
      },
    };
    expect(read(400, body)).toEqual({
      kind: 'invalid-request',
      status: 400,
      message: 'No such role',
      type: 'invalid_request_error',
      code: 'invalid_value',
      param: 'messages[0].role',
    });
  });

  test.each([
    [400, error('Bad value'), 'invalid-request'],
    [413, error('Too large'), 'invalid-request'],
    [422, { detail: [{ loc: ['body', 'n'], msg: 'not an integer', type: 'int' }] }, 'invalid-request'],
    [401, error('Incorrect API key provided: sk-x', 'invalid_api_key'), 'credential'],
    [402, error('Insufficient Balance'), 'credential'],
    [403, error('Not allowed'), 'conflict'],
    [404, error('The model `x` does not exist', 'model_not_found'), 'model-missing'],
    [404, { detail: 'Not Found' }, 'model-missing'],
    [405, { detail: 'Method Not Allowed' }, 'model-missing'],
    [404, error("Conversation with id 'conv_1' not found."), 'answer-missing'],
    [400, error('Previous response not found', 'previous_response_not_found'), 'answer-missing'],
    [408, error('Timed out'), 'conflict'],
    [409, error('Conflict'), 'conflict'],
    [425, error('Early'), 'conflict'],
    [429, error('Rate limit reached for m', 'rate_limit_exceeded', 'tokens'), 'rate-limited'],
    [429, error('You exceeded your current quota', 'insufficient_quota', 'insufficient_quota'), 'credential'],
    [429, error('Your account is suspended', null, 'exceeded_current_quota_error'), 'credential'],
    [
      429,
      [{ error: { code: 429, message: 'You exceeded your current quota', status: 'RESOURCE_EXHAUSTED' } }],
      'rate-limited',
    ],
    [429, error('The engine is overloaded', null, 'engine_overloaded_error'), 'overloaded'],
    [500, error('Oops', null, 'server_error'), 'server-error'],
    [502, error('Bad gateway'), 'server-error'],
    [503, error('Slow down', 'slow_down'), 'overloaded'],
    [529, { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }, 'overloaded'],
    [500, error('That model is currently overloaded with other requests'), 'overloaded'],
    [500, error('CUDA error', 'model_not_found'), 'server-error'],
  ])('%i %j is %s', (status, body, kind) => {
    expect(read(status, body).kind).toBe(kind);
  });

  test.each([
    [400, error('Your credit balance is too low to access the API.'), 'credential'],
    [400, error('API key not valid. Please pass a valid API key.', 400), 'credential'],
    [400, error('Access denied', 'Arrearage'), 'credential'],
    [400, error('x', 'model_not_found'), 'model-missing'],
    [400, error('The model `org/x` does not exist.'), 'model-missing'],
    [400, error('Model Not Exist'), 'model-missing'],
    [403, error('Project has no access to model', 'model_not_found'), 'model-missing'],
    [
      400,
      error("This model's maximum context length is 8192 tokens.", 'context_length_exceeded'),
      'context-length',
    ],
    [
      400,
      error("This model's maximum context length is 8192 tokens. However, you requested 9000."),
      'context-length',
    ],
    [400, error('prompt is too long: 210000 tokens > 200000 maximum'), 'context-length'],
    [
      413,
      error('The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).'),
      'context-length',
    ],
    [
      400,
      error(
        'The response was filtered due to the prompt triggering content management policy.',
        'content_filter',
      ),
      'content-policy',
    ],
    [400, error('Your request was rejected as a result of our safety system.'), 'content-policy'],
    [403, error('Your input was flagged by the moderation service'), 'content-policy'],
    [
      413,
      error('Request too large for model on tokens per minute', 'rate_limit_exceeded', 'tokens'),
      'context-length',
    ],
    [
      402,
      { error: { code: 402, message: 'This request requires more credits', metadata: {} } },
      'credential',
    ],
  ])('%i %j is recognised as %s', (status, body, kind) => {
    expect(read(status, body).kind).toBe(kind);
  });

  test.each([
    error("Invalid value: 'Your credit balance is too low'. Supported values are: 'a' and 'b'."),
    error('Unknown name "rate limit" at "x"'),
    error('Bad tool name `the model x does not exist`'),
    error('Invalid schema for function f: Your credit balance is too low'),
  ])("a caller's own words, repeated by the upstream, do not put a channel out of service: %j", (body) => {
    expect(read(400, body).kind).toBe('invalid-request');
  });

  test.each([
    error('Your API key does not have permission to use the specified resource.', null, 'permission_error'),
    error('You are not allowed to sample from this model', 'permission_denied'),
    error('Country, region, or territory not supported'),
    error('Your account has been suspended for violating our usage guidelines.'),
    error('The billing account for the owning project is disabled in state absent.'),
    error('Generative models have not been used in project 123 before.'),
    error('No permission to access this organization.'),
    error('x', 'unsupported_country_region_territory'),
  ])('a 403 about the account is the credential: %j', (body) => {
    expect(read(403, body).kind).toBe('credential');
  });

  test.each([
    [
      error('Content violates usage guidelines. Team: 12ab, API key ID: 34cd, Failed check: X'),
      'content-policy',
    ],
    [error('Your request was flagged as unsafe; contact the owner of your account.'), 'content-policy'],
    [error('Blocked: violation of the safety policy'), 'content-policy'],
    [error('Prompt rejected by moderation'), 'content-policy'],
    [error('Forbidden'), 'conflict'],
    [error('You do not have permission to access the File abc123 or it may not exist.'), 'conflict'],
    [error('The caller said `your api key is blocked`'), 'conflict'],
    [{ detail: 'Forbidden' }, 'conflict'],
  ])('any other 403 must not be the credential: %j is %s', (body, kind) => {
    expect(read(403, body).kind).toBe(kind);
  });

  test.each([
    [404, error('x', null, 'invalid_request_error', 'model')],
    [404, error("model 'llama' not found, try pulling it first")],
    [404, error('The model org/x:free does not exist or you do not have access to it.')],
    [404, error('Model not found, inaccessible, and/or not deployed')],
    [404, error('models/m-1 is not found for API version v1, or is not supported for generateContent.')],
    [404, error('No endpoints found for org/x.')],
    [404, error('Not found the model m-1 or Permission denied')],
    [404, error('The API deployment for this resource does not exist.', 'DeploymentNotFound')],
    [404, { error: { message: 'Resource not found', code: '404' } }],
    [400, error('Model m-1 is not supported.')],
    [400, error("The requested model 'm-1' is not supported by any provider you have enabled.")],
    [400, error('Invalid model: m-1')],
    [400, error("Invalid model 'm-1'. Permitted models are listed in the documentation.")],
  ])('%i %j is a model the upstream does not have', (status, body) => {
    expect(read(status, body).kind).toBe('model-missing');
  });

  test.each([
    [404, error('No such File object: file-abc123')],
    [404, error('Requested entity was not found.')],
    [404, error('No endpoints found that support tool use.')],
    [404, error('Previous answer with id model_1 not found.')],
    [
      400,
      error('The model returned the following errors: messages.0: the media type image/bmp is not supported'),
    ],
    [400, error('Model x: tool_choice is not supported')],
    [400, error('The model m-1 is not supported with tools.')],
    [400, error('Model x requires a tool; the tool f is not found')],
    [400, error('This model is not supported together with audio')],
    [400, error('Invalid model output schema')],
    [400, error('x', null, 'invalid_request_error', 'model')],
  ])('%i %j must not be a missing model', (status, body) => {
    expect(read(status, body).kind).toBe('invalid-request');
  });

  test.each([
    error('The model `m-2` does not exist', 'model_not_found', 'invalid_request_error', 'tools[0].model'),
    error('Unknown model: m-2', null, 'invalid_request_error', 'fallbacks.1.model'),
    error('Invalid model: m-2', 'invalid_model', 'invalid_request_error', 'plugins[0].model'),
  ])('a model that the caller names within a member is no model the upstream lacks: %j', (body) => {
    for (const status of [400, 403, 404]) expect(read(status, body).kind).toBe('invalid-request');
  });

  test.each([
    'Web search is not enabled for your organization.',
    'Your account does not have access to the computer use tool.',
    'The code execution tool requires a paid plan for this project.',
    'Fast mode is not available for your organization.',
    'The long context beta is not yet available for this subscription.',
    'Your project does not have permission to use this feature.',
    "Your workspace can't use the beta header 'context-management'.",
    'Service tier priority is not enabled for this project.',
    'File search is disabled for this account.',
    'MCP servers are not allowed in this workspace.',
  ])('a 403 about a feature says nothing of the credential: %s', (message) => {
    expect(read(403, error(message)).kind).toBe('conflict');
  });

  test('a request beyond a limit is too long, and no rate limit', () => {
    const message =
      'Request too large for m-1 in organization org-1 on tokens per min (TPM): Limit 30000, Requested 40000.';
    expect(read(429, error(message, 'rate_limit_exceeded', 'tokens')).kind).toBe('context-length');
    const used =
      'Rate limit reached for m-1 on tokens per min (TPM): Limit 30000, Used 29000, Requested 2000.';
    expect(read(429, error(used, 'rate_limit_exceeded', 'tokens')).kind).toBe('rate-limited');
  });

  test.each([413, 414, 422, 431])("%i without an error in it is the caller's, and has no words", (status) => {
    for (const body of ['<html><h1>Request Entity Too Large</h1><hr>nginx</html>', '', '{}']) {
      expect(read(status, body)).toEqual({
        kind: 'invalid-request',
        status,
        message: '',
        type: null,
        code: null,
        param: null,
      });
    }
  });

  test.each([
    [403, '<html><head><title>403 Forbidden</title></head></html>', 'garbled'],
    [404, '<html>nginx</html>', 'garbled'],
    [400, '<html>nginx</html>', 'garbled'],
    [400, '', 'garbled'],
    [403, '{}', 'garbled'],
    [400, '{"error":', 'garbled'],
    [401, '', 'credential'],
    [429, 'Too many', 'rate-limited'],
    [502, '<html>nginx</html>', 'server-error'],
    [503, '', 'overloaded'],
    [524, '<html>', 'server-error'],
  ])('%i with the body %j is %s', (status, body, kind) => {
    expect(read(status, body)).toMatchObject({ kind, status, type: null, code: null, param: null });
  });

  test('bounds what it keeps', () => {
    expect(read(400, error('x'.repeat(100_000))).message).toHaveLength(2_000);
    expect(read(403, `<html>${'x'.repeat(100_000)}`).message.length).toBeLessThan(400);
  });
});

test.each(['['.repeat(32_000) + ']'.repeat(32_000), '{"detail":['.repeat(5_000) + ']}'.repeat(5_000)])(
  'an error that is nested without end has no words: %.12s',
  (body) => {
    expect(chatCompletions.readRefusal(500, new TextEncoder().encode(body))).toMatchObject({
      kind: 'server-error',
      code: null,
    });
  },
);

test.each([
  ['<html>the words of another caller</html>', 'a page of 40 characters'],
  ['the words of another caller', 'text of 27 characters'],
  ['{"id":"1","the words of another caller":1}', 'an object in JSON with id, 42 characters'],
  ['{"the words of":[{"another', 'JSON that breaks off, 26 characters'],
  ['[1,"the words of another caller"]', 'a list of 2 in JSON, 33 characters'],
  ['7', 'a number in JSON, 1 characters'],
])('an answer that nobody can read is told by its shape: %s', (body, shape) => {
  expect(read(503, body).message).toBe(`not an answer of this protocol: ${shape}`);
});
