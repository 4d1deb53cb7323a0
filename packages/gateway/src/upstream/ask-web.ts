import { concatBytes } from '@headgate/protocols';
import type { UpstreamClient, UpstreamHandler, UpstreamHead } from '../ports/upstream.ts';
import { type AskWeb, type WebRequest, WebUnreachable } from '../ports/web.ts';

const answerBytesMax = 1_048_576;
const answerMsMax = 10_000;
/** A response of these has no body, and its constructor refuses one. */
const bodiless: ReadonlySet<number> = new Set([204, 205, 304]);

/** The way to servers of the web through the client that guards addresses, as a `fetch` of whole answers. */
export function openWeb(client: UpstreamClient): AskWeb {
  return (request) => new Promise((resolve, reject) => ask(client, request, resolve, reject));
}

function ask(
  client: UpstreamClient,
  { url, method, headers, body, allowPrivate }: WebRequest,
  resolve: (response: Response) => void,
  reject: (reason: WebUnreachable) => void,
): void {
  const { origin, pathname, search, host } = new URL(url);
  const giveUp = (why: string): void => {
    clearTimeout(timer);
    reject(new WebUnreachable(`${host}: ${why}`));
    exchange?.abort();
  };
  const chunks: Uint8Array[] = [];
  let [length, head] = [0, null as UpstreamHead | null];
  const handler: UpstreamHandler = {
    onHead: (given) => {
      head = given;
    },
    onData: (chunk) => {
      length += chunk.length;
      if (length > answerBytesMax) giveUp('its answer is larger than 1 MiB');
      else chunks.push(new Uint8Array(chunk));
    },
    onEnd: () => {
      clearTimeout(timer);
      if (head === null) return giveUp('there was no answer');
      const { status } = head;
      resolve(
        new Response(bodiless.has(status) ? null : concatBytes(chunks), {
          status,
          headers: [...head.headers].map(([name, value]): [string, string] => [name, value]),
        }),
      );
    },
    onFailure: ({ kind, detail }) => giveUp(`${kind}: ${detail}`),
  };
  const timer = setTimeout(() => giveUp(`no answer within ${answerMsMax / 1000} s`), answerMsMax);
  const place = { origin, path: pathname + search, channelId: 'web', allowPrivate, fresh: true };
  const pieces = body === null ? [] : [new TextEncoder().encode(body)];
  const exchange = client.send(
    {
      ...place,
      method: method === 'POST' ? 'POST' : 'GET',
      headers: Object.entries(headers).flat(),
      body: pieces,
    },
    handler,
  );
}
