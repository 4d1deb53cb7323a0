import type { TestGateway } from './gateway.ts';
import { scrapeMetrics } from './metrics.ts';
import { exchange, type RawAnswer, request } from './raw-http.ts';

/** The surfaces that answer with words. */
export const surfaces = ['chat-completions', 'responses', 'messages', 'generate-content'] as const;
export type Surface = (typeof surfaces)[number];
export type Mode = 'json' | 'stream';

/** The prompt of every call: three tokens for the simulator. */
const prompt = 'one two three';

/** Calls a model once, as callers of the surface do. */
export function callSurface(
  gateway: TestGateway,
  surface: Surface,
  model: string,
  mode: Mode,
): Promise<RawAnswer> {
  return exchange(gateway.apiOrigin, surfaceRequest(gateway, surface, model, mode));
}

/** The same as bytes; members of the body beside those every call has as given. */
export function surfaceRequest(
  { keys }: TestGateway,
  surface: Surface,
  model: string,
  mode: Mode,
  more: object = {},
): Buffer {
  const stream = mode === 'stream';
  const post = (path: string, key: string, body: object, credential = 'authorization: Bearer') =>
    request(
      `POST ${path}`,
      [`${credential} ${key}`, 'content-type: application/json'],
      JSON.stringify({ ...body, ...more }),
    );
  const messages = [{ role: 'user', content: prompt }];
  switch (surface) {
    case 'chat-completions':
      return post('/v1/chat/completions', keys.completions, { model, messages, stream });
    case 'responses':
      return post('/v1/responses', keys.completions, { model, input: prompt, stream });
    case 'messages':
      return post('/v1/messages', keys.messages, { model, messages, stream, max_tokens: 100 });
    case 'generate-content': {
      const action = stream ? 'streamGenerateContent?alt=sse' : 'generateContent';
      const contents = [{ role: 'user', parts: [{ text: prompt }] }];
      return post(`/v1beta/models/${model}:${action}`, keys.native, { contents }, 'x-goog-api-key:');
    }
    default:
      return surface satisfies never;
  }
}

/** Only a stream that came to its end has this in it. */
const endMarks: Readonly<Record<Surface, string>> = {
  'chat-completions': 'data: [DONE]',
  responses: 'event: response.completed',
  messages: 'event: message_stop',
  'generate-content': '"finishReason":"STOP"',
};

/** The answer came to its end as such answers do. */
export function isComplete({ status, isWhole, body }: RawAnswer, surface: Surface, mode: Mode): boolean {
  return status === 200 && isWhole && (mode === 'json' || body.includes(endMarks[surface]));
}

/** The code of the error that an answer is, or that a stream ended with; null when there is none. */
export function errorCodeOf({ body }: RawAnswer, surface: Surface): string | null {
  const pattern = surface === 'generate-content' ? /"reason":"(\w+)"/ : /"code":"(\w+)"/;
  return pattern.exec(body.toString())?.[1] ?? null;
}

/** Alerts of a kind that the operator has been told. */
export async function alertsOf({ consoleOrigin, dataDir }: TestGateway, kind: string): Promise<number> {
  const text = await scrapeMetrics(consoleOrigin, dataDir);
  return Number(new RegExp(`^headgate_alerts_total\\{kind="${kind}"\\} (\\d+)$`, 'm').exec(text)?.[1] ?? 0);
}
