import { parentPort } from 'node:worker_threads';
import {
  type Block,
  fail,
  leastLossFirst,
  noSettings,
  protocols,
  remoteMediaOf,
  type Turn,
  tooManyElements,
  translate,
  withMedia,
} from '@headgate/protocols';
import type { TranslatedAway, TranslationJob, WayJob } from '../ports/gateway.ts';
import type { JobAnswer, JobMessage } from '../threads/job-thread.ts';

// The other end, `WorkerTranslator`, sends one body after the other and waits for each translation.
parentPort?.on('message', ({ id, message, bytes }: JobMessage<TranslationJob>) => {
  const answer: JobAnswer<TranslatedAway> = { id, result: translatedAway(message, bytes) };
  parentPort?.postMessage(answer, buffersOf(answer.result));
});

function translatedAway(job: TranslationJob, body: Uint8Array): TranslatedAway {
  const tooMany = tooManyElements(body);
  if (tooMany !== null) return fail(tooMany);
  const { codec } = protocols[job.surface];
  if (codec === null) throw new Error(`${job.surface} is never translated`);
  const turn = codec.readTurn({ ...job.input, body, header: () => undefined });
  if (!turn.ok) return turn;
  const { surface, ...rest } = shown(turn.value, codec.repeatsRequest);
  return { ok: true, value: { turn: rest, ...waysTranslated(job, turn.value) } };
}

/** The ways as they are to be tried, and the requests of the first ones up to one that can be sent. */
function waysTranslated(job: TranslationJob, turn: Turn) {
  const ways = leastLossFirst(turn, job.ways.flatMap(spoken));
  const written = [];
  for (const way of ways) {
    // Media that it has to be handed are fetched first.
    const missing = remoteMediaOf(turn, way.codec.mediaByUrl).filter((url) => !job.fetched.has(url));
    if (missing.length > 0) break;
    const context = { ...job.context, turn: withMedia(turn, job.fetched) };
    const caller = protocols[job.surface].codec;
    if (caller === null) break;
    const result = translate({ caller, upstream: way.codec }, way.target, context);
    written.push({
      place: way.place,
      result: result.ok ? ({ ok: true, value: result.value.written } as const) : result,
    });
    if (result.ok) break;
  }
  return { order: ways.map(({ place }) => place), written };
}

function spoken({ protocol, target }: WayJob, place: number) {
  const { codec } = protocols[protocol];
  return codec === null ? [] : [{ place, codec, target }];
}

/** Nobody fetches so many things for one request: of more than these, the rest need not be known to refuse it. */
const remoteMax = 500;
/** Tools and settings that are longer are not said again in an answer. Characters. */
const repeatedMax = 128 * 1024;

/**
 * A request as the main thread still needs it: of its conversation only what has to be fetched, and the rest where an answer says
 * it again.
 */
function shown(turn: Turn, repeats: boolean): Turn {
  const { tools, settings } = turn;
  const remote = turn.messages.flatMap(({ content }) => content.flatMap(remoteIn)).slice(0, remoteMax);
  const rest = {
    ...turn,
    system: [],
    messages: [{ role: 'user' as const, content: remote, name: null }],
    extensions: [],
  };
  if (repeats && JSON.stringify({ tools, settings }).length <= repeatedMax) return rest;
  return { ...rest, tools: [], toolChoice: null, settings: { ...noSettings, reasoning: settings.reasoning } };
}

function remoteIn(block: Block): readonly Block[] {
  if (block.kind === 'tool-result') return block.content.flatMap(remoteIn);
  return block.kind === 'media' && block.source.kind === 'url' ? [block] : [];
}

function buffersOf(result: TranslatedAway): ArrayBuffer[] {
  if (!result.ok) return [];
  const pieces = result.value.written.flatMap(({ result }) => (result.ok ? result.value.request.body : []));
  return [...new Set(pieces.map(({ buffer }) => buffer))].filter((buffer) => buffer instanceof ArrayBuffer);
}
