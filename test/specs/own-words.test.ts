import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type Feature,
  modelOf,
  openProtocolSite,
  type ProtocolSite,
  upstreams,
} from '../support/protocol-site.ts';
import { whereFound } from '../support/reference.ts';
import { ask, framesOf, send } from './ask.ts';
import { descriptionFiles, PublishedSchemas } from './published-schemas.ts';
import { surfaces } from './surfaces.ts';

let site: ProtocolSite;

beforeAll(async () => {
  site = await openProtocolSite();
});
afterAll(async () => site[Symbol.asyncDispose]());

const { chat, responses, messages, native } = surfaces;
const refused: readonly Feature[] = ['error-400', 'error-429', 'error-503'];
const question = [{ role: 'user', content: 'How far is the moon?' }];

/** Ours are words (product.md, GET /v1/models), and not the features of one vendor. */
function withoutCapabilities(text: string): unknown {
  return JSON.parse(text, (member, value: unknown) => (member === 'capabilities' ? null : value));
}

function holdEverything(): void {
  const openai = new PublishedSchemas('openai');
  const openResponses = new PublishedSchemas('open-responses');
  const anthropic = new PublishedSchemas('anthropic');
  const vertex = new PublishedSchemas('vertex');

  describe.each(upstreams)('on %s', (upstream) => {
    test.each([
      ['chat', chat, openai],
      ['responses', responses, openai],
      ['messages', messages, anthropic],
    ] as const)('errors of %s', async (_name, surface, schemas) => {
      for (const feature of refused) {
        for (const stream of [false, true]) {
          const { status, text } = await ask(site, surface, [upstream, feature], stream);
          expect(status).toBeGreaterThanOrEqual(400);
          expect(schemas.errors('ErrorResponse', JSON.parse(text))).toEqual([]);
        }
      }
    });

    test('the error that ends a stream', async () => {
      const endOf = async (surface: typeof chat) => {
        const { text, isWhole } = await ask(site, surface, [upstream, 'cut'], true);
        expect(isWhole).toBe(false);
        return framesOf(text).slice(-2);
      };
      expect(openai.errors('ErrorResponse', (await endOf(chat))[1])).toEqual([]);
      expect(anthropic.errors('ErrorResponse', (await endOf(messages))[1])).toEqual([]);
      const [error, failed] = await endOf(responses);
      expect(openai.errors('ResponseErrorEvent', error)).toEqual([]);
      expect(openai.errors('ResponseFailedEvent', failed)).toEqual([]);
      expect(openResponses.errors('ErrorStreamingEvent', error)).toEqual([]);
      expect(openResponses.errors('ResponseFailedStreamingEvent', failed)).toEqual([]);
    });

    test('counts of tokens', async () => {
      const model = modelOf('schema', upstream);
      const counted = await send(site, messages, '/v1/messages/count_tokens', { model, messages: question });
      expect(anthropic.errors('CountMessageTokensResponse', JSON.parse(counted.text))).toEqual([]);
      const contents = [{ parts: [{ text: 'How far is the moon?' }] }];
      const total = await send(site, native, `/v1beta/models/${model}:countTokens`, { contents });
      expect(vertex.errors('CountTokensResponse', JSON.parse(total.text))).toEqual([]);
    });
  });

  test('lists of models', async () => {
    const { text } = await send(site, chat, '/v1/models');
    expect(openai.errors('ListModelsResponse', JSON.parse(text))).toEqual([]);
    const listed = await send(site, messages, '/v1/models');
    expect(anthropic.errors('ListResponse_ModelInfo_', withoutCapabilities(listed.text))).toEqual([]);
    const one = await send(site, messages, `/v1/models/${modelOf('plain', 'messages')}`);
    expect(anthropic.errors('ModelInfo', withoutCapabilities(one.text))).toEqual([]);
  });
}

whereFound('our own words are as they are published', descriptionFiles, holdEverything);
