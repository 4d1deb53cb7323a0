import { describe, expect, test } from 'vitest';
import { endpoints, matchEndpoint, platformOfPath } from './endpoint.ts';

function matched(method: string, path: string) {
  const match = matchEndpoint(method, path);
  if (match.kind !== 'match') return match.kind;
  const { endpoint, params } = match;
  return { kind: endpoint.kind, platform: endpoint.platform, params };
}

describe('matchEndpoint', () => {
  test.each(endpoints)('finds $method $path', (endpoint) => {
    const match = matchEndpoint(endpoint.method, endpoint.path.replace('{model}', 'a-model'));
    expect(match).toMatchObject({ kind: 'match', endpoint });
  });

  test.each([
    ['GET', '/v1/models/gpt-4o', 'model', 'any', { model: 'gpt-4o' }],
    ['GET', '/v1/models/org%2Fmodel%3Afree', 'model', 'any', { model: 'org/model:free' }],
    ['GET', '/v1/models/ft:gpt:me', 'model', 'any', { model: 'ft:gpt:me' }],
    ['GET', '/v1/models/{model}', 'model', 'any', { model: '{model}' }],
    ['GET', '/v1beta/models', 'models', 'native', {}],
    ['GET', '/v1alpha/models/m', 'model', 'native', { model: 'm' }],
    ['POST', '/v1beta/models/m:generateContent', 'call', 'native', { model: 'm', action: 'generateContent' }],
    [
      'POST',
      '/v1/models/a%3Ab:streamGenerateContent',
      'call',
      'native',
      { model: 'a:b', action: 'streamGenerateContent' },
    ],
    [
      'POST',
      '/v1alpha/models/a:b:countTokens',
      'count-tokens',
      'native',
      { model: 'a:b', action: 'countTokens' },
    ],
    [
      'POST',
      '/v1beta/models/m:batchEmbedContents',
      'embed',
      'native',
      { model: 'm', action: 'batchEmbedContents' },
    ],
    ['POST', '/v1/messages/count_tokens', 'count-tokens', 'messages', {}],
    ['POST', '/v1/images/edits', 'call', 'completions', {}],
  ])('%s %s', (method, path, kind, platform, params) => {
    expect(matched(method, path)).toEqual({ kind, platform, params });
  });

  test.each([
    ['GET', '/v1/chat/completions', ['POST']],
    ['HEAD', '/v1/messages', ['POST']],
    ['OPTIONS', '/v1/usage', ['GET']],
    ['get', '/v1/usage', ['GET']],
    ['POST', '/v1/models', ['GET']],
    ['POST', '/v1/models/m', ['GET']],
    ['DELETE', '/v1/models/m', ['GET']],
    ['GET', '/v1beta/models/m:generateContent', ['POST']],
    ['GET', '/v1/models/m:generateContent', ['POST']],
  ])('%s %s is not allowed', (method, path, allow) => {
    expect(matchEndpoint(method, path)).toEqual({ kind: 'method-not-allowed', allow });
  });

  test.each([
    ['GET', ''],
    ['GET', '/'],
    ['GET', '/v1'],
    ['GET', '/v1/models/'],
    ['POST', '/v1/chat/completions/'],
    ['POST', '//v1/chat/completions'],
    ['POST', '/v1//chat/completions'],
    ['POST', '/v1/chat%2fcompletions'],
    ['POST', '/v1/./chat/completions'],
    ['POST', '/v1/x/../chat/completions'],
    ['POST', '/v1/chat/completions;x=1'],
    ['POST', '/V1/chat/completions'],
    ['POST', 'http://elsewhere/v1/chat/completions'],
    ['GET', '/v1/models/..'],
    ['GET', '/v1/models/%2e%2e'],
    ['GET', '/v1/models/a%00b'],
    ['GET', '/v1/models/a%5Cb'],
    ['GET', '/v1/models/%zz'],
    ['GET', '/v1/models/%ff'],
    ['GET', '/v1/models/a/b'],
    ['GET', '/v2/models/a'],
    ['POST', '/v1beta/models/m:unknownAction'],
    ['POST', '/v1beta/models/m:__proto__'],
    ['POST', '/v1beta/models/:generateContent'],
    ['POST', '/v1beta/models/m:generateContent/x'],
    ['GET', '/__proto__'],
    ['GET', '/constructor'],
  ])('%s %s does not exist', (method, path) => {
    expect(matchEndpoint(method, path)).toEqual({ kind: 'none' });
  });
});

test.each([
  ['/v1/chat/completions', 'completions'],
  ['/v1/models', 'completions'],
  ['/v1/models/m', 'completions'],
  ['/nowhere', 'completions'],
  ['/v1/messages', 'messages'],
  ['/v1/messages/count_tokens', 'messages'],
  ['/v1/messagesx', 'completions'],
  ['/v1beta/models/m:x', 'native'],
  ['/v1beta', 'native'],
  ['/v1alpha/x', 'native'],
  ['/v1/models/m:generateContent', 'native'],
])('a failure on %s has the shape of %s', (path, platform) => {
  expect(platformOfPath(path)).toBe(platform);
});
