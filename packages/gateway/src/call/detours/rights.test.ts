import { concatBytes, type ProtocolId, protocols } from '@headgate/protocols';
import { describe, expect, test } from 'vitest';
import { modelOf, priceOf, quick, targetOf } from '../../catalogue/catalogue.fixture.ts';
import type { Model } from '../../catalogue/catalogue.ts';
import { Rights } from '../../catalogue/rights.ts';
import { Wires } from '../../catalogue/wire.ts';
import { caller, Rig } from '../call.fixture.ts';
import { Call } from '../request.ts';
import { readNames } from './rights.ts';

/** Every protocol at its inventors' path. */
const speaks = Object.fromEntries(Object.values(protocols).map(({ id, usualPath }) => [id, usualPath]));

function modelAt(id: string, places: Readonly<Record<string, string>>): Model {
  const targets = Object.entries(places).map(([channel, upstreamModel]) => ({
    ...targetOf({ id: channel, protocols: speaks }),
    upstreamModel,
  }));
  return { ...modelOf(targets, id), price: priceOf(1n), facts: quick };
}

const small = modelAt('small', { c1: 'vendor-small-1', c2: 'small' });
const large = modelAt('large', { c1: 'vendor-large-1' });
const secret = modelAt('secret', { c1: 'vendor-secret-1' });
const rights = new Rights([small, large, secret]);
const bound = { ...caller, models: new Set(['small', 'large']) };

interface Asked {
  readonly surface: ProtocolId;
  readonly body: string;
  readonly contentType?: string;
}

function callOf({ surface, body, contentType = 'application/json' }: Asked): Call {
  const rig = new Rig();
  const protocol = protocols[surface];
  const native = { model: 'small', action: 'generateContent' };
  const inbound = {
    ...rig.inbound(false),
    body: new TextEncoder().encode(body),
    header: (name: string) => (name === 'content-type' ? contentType : undefined),
    path: surface === 'images' ? '/v1/images/edits' : '/v1',
    params: surface === 'generate-content' ? native : {},
  };
  const call = new Call(rig.gateway, inbound, bound, protocol, rig.reply, null);
  const read = protocol.readRequest(inbound);
  if (!read.ok) throw new Error(read.error.message);
  call.request = read.value;
  return call;
}

/** `allowed`, the field that is refused, or the body as it goes to the first channel. */
function verdictOn(asked: Asked, at = 0): string {
  const call = callOf(asked);
  const named = readNames(call.request, bound, asked.surface, rights);
  if (!named.ok) return `${named.error.code} ${named.error.param}`;
  const target = small.targets[at];
  if (named.value === null || target === undefined) return 'allowed';
  const upstream = {
    line: () => ({ send: () => ({ isSent: true, pause() {}, resume() {}, gather() {}, abort() {} }) }),
  };
  const encoded = named.value(new Wires(protocols, upstream).of(target, asked.surface), []);
  if (!encoded.ok) return `${encoded.error.code} ${encoded.error.param} on this channel`;
  return Buffer.from(concatBytes(encoded.value.body)).toString();
}

const opening: Readonly<Record<ProtocolId, string>> = {
  'chat-completions': '"model":"small","messages":[{"role":"user","content":"secret"}]',
  responses: '"model":"small","input":"secret"',
  messages: '"model":"small","max_tokens":9,"messages":[{"role":"user","content":"secret"}]',
  'generate-content': '"contents":[{"parts":[{"text":"secret"}]}]',
  images: '"model":"small","prompt":"secret"',
};

const missing = 'model_not_found';
/** Bodies by surface: the members beside its opening, and what becomes of them. `=` is the whole of it in their place. */
const corpus: Readonly<Record<ProtocolId, readonly (readonly [string, string])[]>> = {
  'chat-completions': [
    ['"models":["small","secret"]', `${missing} models[1]`],
    ['"models":["small","no-such-model"]', `${missing} models[1]`],
    ['"models":["large"],"route":"fallback"', '="models":["vendor-large-1"],"route":"fallback"'],
    ['"models":["vendor-large-1"]', '="models":["vendor-large-1"]'],
    ['"models":["vendor-secret-1"]', `${missing} models[0]`],
    ['"models":["VENDOR-SECRET-1"]', `${missing} models[0]`],
    ['"models":["vendor-secret-1-2026-08-01"]', `${missing} models[0]`],
    ['"m\\u006fdels":["secret"]', `${missing} models[0]`],
    ['"Models":["secret"]', `${missing} Models[0]`],
    ['"M\\u006fdel":"secret"', `${missing} Model`],
    ['"Mo\\u0064el":"small"', 'allowed'],
    ['"models":["small"],"models":["secret"]', `${missing} models[0]`],
    ['"fallbac\u212as":["secret"]', `${missing} fallbac\u212as[0]`],
    ['"fallbacks":[{"model":"secret","messages":[]}]', `${missing} fallbacks[0].model`],
    [
      '"fallbacks":[{"model":"large","messages":[{"role":"user","content":"secret"}]}]',
      '="fallbacks":[{"model":"vendor-large-1","messages":[{"role":"user","content":"secret"}]}]',
    ],
    ['"fallbacks":"default"', `${missing} fallbacks`],
    ['"fallback_models":["se\\u0063ret"]', `${missing} fallback_models[0]`],
    ['"draft_model":"secret"', `${missing} draft_model`],
    ['"plugins":[{"id":"web"}]', 'allowed'],
    ['"plugins":[{"id":"fusion"}]', 'invalid_request plugins[0].id'],
    [
      '"plugins":[{"id":"auto-router","allowed_models":["anyone/*"]}]',
      `${missing} plugins[0].allowed_models[0]`,
    ],
    ['"plugins":[{"id":"web","engine":{"llm":"secret"}}]', `${missing} plugins[0].engine.llm`],
    ['"preset":"cheap"', 'invalid_request preset'],
    ['"preset":null', 'allowed'],
    [
      '"tools":[{"type":"x:advisor","parameters":{"model":"secret"}}]',
      `${missing} tools[0].parameters.model`,
    ],
    [
      '"tools":[{"type":"x:advisor","parameters":{"model":"large"}}]',
      '="tools":[{"type":"x:advisor","parameters":{"model":"vendor-large-1"}}]',
    ],
    ['"tools":[{"type":"x:fusion"}]', 'invalid_request tools[0].type'],
    [
      '"tools":[{"type":"function","function":{"name":"secret","parameters":{"properties":{"model":{"enum":["secret"]}}}}}]',
      'allowed',
    ],
    [
      '"tools":[{"type":"function","parameters":{"type":"object","required":["secret"],"properties":{"model":{"default":"secret"}}}}]',
      'allowed',
    ],
    ['"extra_body":{"models":["secret"]}', `${missing} extra_body.models[0]`],
    ['"x":{"y":[[{"z":"secret"}]]}', `${missing} x.y[0][0].z`],
    ['"x":{"y":"large"}', 'allowed'],
    ['"x":{"y":"a sentence about secret"}', 'allowed'],
    ['"metadata":{"topic":"secret"},"user":"secret","stop":["secret"]', 'allowed'],
    ['"metadata":{"model_group":"secret"}', `${missing} metadata.model_group`],
    ['"prediction":{"type":"content","content":"secret"}', 'allowed'],
    ['"response_format":{"type":"json_schema","json_schema":{"schema":{"const":"secret"}}}', 'allowed'],
    [
      '"compound_custom":{"models":{"answering_model":"secret"}}',
      `${missing} compound_custom.models.answering_model`,
    ],
    ['"service_tier":"priority","n":2,"web_search_options":{}', 'allowed'],
    ['"providerOptions":{"gateway":{"models":["secret"]}}', `${missing} providerOptions.gateway.models[0]`],
  ],
  responses: [
    ['"tools":[{"type":"image_generation","model":"secret"}]', `${missing} tools[0].model`],
    [
      '"tools":[{"type":"image_generation","model":"large"}]',
      '="tools":[{"type":"image_generation","model":"vendor-large-1"}]',
    ],
    ['"tools":[{"type":"image_generation"}]', 'allowed'],
    ['"tools":[{"type":"web_search"},{"type":"code_interpreter","container":{"type":"auto"}}]', 'allowed'],
    ['"tools":[{"t\\u0079pe":"image_generation","mod\\u0065l":"secret"}]', `${missing} tools[0].model`],
    ['"prompt":{"id":"pmpt_1","version":"2"}', 'invalid_request prompt'],
    ['"instructions":"secret","text":{"format":{"type":"text"}}', 'allowed'],
    ['"previous_response_id":"resp_1"', 'allowed'],
    ['"conversation":{"id":"conv_1"},"background":false,"store":true', 'allowed'],
    ['"models":["large","secret"]', `${missing} models[1]`],
    ['"tools":{"model":"secret"}', `${missing} tools.model`],
    ['"future":{"sub_model":"secret"}', `${missing} future.sub_model`],
  ],
  messages: [
    ['"tools":[{"type":"advisor_20260301","name":"advisor","model":"secret"}]', `${missing} tools[0].model`],
    [
      '"tools":[{"type":"advisor_20260301","name":"advisor","model":"large"}]',
      '="tools":[{"type":"advisor_20260301","name":"advisor","model":"vendor-large-1"}]',
    ],
    [
      '"tools":[{"name":"task","input_schema":{"properties":{"model":{"enum":["small","secret"]}}}}]',
      'allowed',
    ],
    ['"tools":[{"name":"task","description":"secret","input_schema":{"model":"secret"}}]', 'allowed'],
    ['"fallbacks":[{"model":"secret"}]', `${missing} fallbacks[0].model`],
    [
      '"fallbacks":[{"model":"large"},{"model":"small"}]',
      '="fallbacks":[{"model":"vendor-large-1"},{"model":"vendor-small-1"}]',
    ],
    ['"fallbacks":"default"', `${missing} fallbacks`],
    ['"system":[{"type":"text","text":"secret"}],"metadata":{"user_id":"secret"}', 'allowed'],
    ['"speed":"fast","inference_geo":"us","service_tier":"auto"', 'allowed'],
    ['"mcp_servers":[{"type":"url","url":"https://a.test","name":"secret-server"}]', 'allowed'],
    ['"TOOLS_":[{"model":"secret"}]', `${missing} TOOLS_[0].model`],
  ],
  'generate-content': [
    ['"model":"models/small"', 'allowed'],
    ['"model":"models/secret"', `${missing} model`],
    [
      '"generateContentRequest":{"model":"models/secret","contents":[]}',
      `${missing} generateContentRequest.model`,
    ],
    ['"requests":[{"model":"models/small"},{"model":"models/secret"}]', `${missing} requests[1].model`],
    [
      '"generationConfig":{"routingConfig":{"manualMode":{"modelName":"secret"}}}',
      `${missing} generationConfig.routingConfig.manualMode.modelName`,
    ],
    [
      '"generation_config":{"routing_config":{"manual_mode":{"model_name":"large"}}}',
      '="generation_config":{"routing_config":{"manual_mode":{"model_name":"vendor-large-1"}}}',
    ],
    [
      '"generationConfig":{"routingConfig":{"autoMode":{}}}',
      'invalid_request generationConfig.routingConfig.autoMode',
    ],
    [
      '"generationConfig":{"modelConfig":{"featureSelectionPreference":"PRIORITIZE_QUALITY"}}',
      'invalid_request generationConfig.modelConfig',
    ],
    ['"generationConfig":{"responseSchema":{"enum":["secret"]}}', 'allowed'],
    ['"cachedContent":"cachedContents/1"', 'allowed'],
    ['"tools":[{"functionDeclarations":[{"name":"secret"}]},{"googleSearch":{}}]', 'allowed'],
    ['"labels":{"model":"secret"}', `${missing} labels.model`],
    ['"systemInstruction":{"parts":[{"text":"secret"}]}', 'allowed'],
    ['"tools":[{"hosted":{"model":"vendor-secret-1"}}]', `${missing} tools[0].hosted.model`],
  ],
  images: [
    ['"size":"1024x1024","quality":"high","n":1', 'allowed'],
    ['"fallback_model":"secret"', `${missing} fallback_model`],
    ['"refiner":"secret"', `${missing} refiner`],
    ['"user":"secret"', 'allowed'],
    ['"M\\u004fDEL":"secret"', `${missing} MODEL`],
  ],
};

const cases = Object.values(protocols).flatMap(({ id }) =>
  corpus[id].map(([members, expected]) => ({ surface: id, members, expected })),
);

describe('a list of models binds whatever in a body names a model', () => {
  test.each(cases)('$surface $members', ({ surface, members, expected }) => {
    const body = `{${opening[surface]},${members}}`;
    const verdict = verdictOn({ surface, body });
    if (!expected.startsWith('=')) expect(verdict).toBe(expected);
    else {
      const own = opening[surface].replace('"model":"small"', '"model":"vendor-small-1"');
      expect(verdict).toBe(`{${own},${expected.slice(1)}}`);
    }
  });

  test('there are enough of them', () => expect(cases.length).toBeGreaterThanOrEqual(80));

  test.each([
    [['fallback_model', 'secret'], `${missing} fallback_model`],
    [['Model', 'secret'], `${missing} Model`],
    [['refiner[]', 'vendor-secret-1'], `${missing} refiner[]`],
    [['prompt', 'secret'], 'allowed'],
    [['user', 'secret'], 'allowed'],
  ])('a form with %j', ([name, text], expected) => {
    const part = (field: string | undefined, value: string | undefined) =>
      `--b\r\ncontent-disposition: form-data; name="${field}"\r\n\r\n${value}\r\n`;
    const body = `${part('model', 'small')}${part('prompt', 'a cat')}${part(name, text)}--b--\r\n`;
    const asked = { surface: 'images', body, contentType: 'multipart/form-data; boundary=b' } as const;
    // Its prompt is there already.
    expect(
      verdictOn({ ...asked, body: name === 'prompt' ? body.replace(part('prompt', 'a cat'), '') : body }),
    ).toBe(expected);
  });

  test('a name that a channel has no model for sends the call elsewhere', () => {
    const body = `{${opening['chat-completions']},"models":["large"]}`;
    expect(verdictOn({ surface: 'chat-completions', body }, 1)).toBe(`${missing} models[0] on this channel`);
  });

  test('a body with more members than can be looked at is refused', () => {
    const many = JSON.stringify(Array.from({ length: 20_001 }, () => 1));
    const body = `{${opening.responses},"x":${many}}`;
    expect(verdictOn({ surface: 'responses', body })).toBe('invalid_request null');
  });

  test('names are found as deep as a body may be', () => {
    const body = `{${opening.responses},"x":${'['.repeat(200)}"secret"${']'.repeat(200)}}`;
    expect(verdictOn({ surface: 'responses', body })).toMatch(/^model_not_found x(\[0\]){66}\[$/);
  });
});
