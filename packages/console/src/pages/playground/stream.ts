import { bodyOf, type Json, type PlayPiece, type PlayRequest, type Surface } from './surfaces.ts';

/** A call when it is over. */
export interface PlayEnd {
  readonly status: number | null;
  readonly traceId: string | null;
  readonly firstMs: number | null;
  readonly totalMs: number;
  /** A refusal in full, as it came; null of an answer. */
  readonly problem: string | null;
  /** True where the person stopped it. */
  readonly wasStopped: boolean;
}

interface Playing {
  readonly apiOrigin: string;
  readonly secret: string;
  readonly surface: Surface;
  readonly request: PlayRequest;
  readonly signal: AbortSignal;
}

/** A frame of a stream that is longer is no text for people any more. */
const frameMax = 4_000_000;

/** Calls the API as any caller does, with the key in its header alone, and tells of each piece of the answer as it comes. */
export async function callSurface(
  { apiOrigin, secret, surface, request, signal }: Playing,
  onPiece: (piece: PlayPiece) => void,
): Promise<PlayEnd> {
  const begunAt = performance.now();
  let firstMs: number | null = null;
  const tell = (piece: PlayPiece) => {
    if (piece.kind === 'text' || piece.kind === 'thinking') firstMs ??= performance.now() - begunAt;
    onPiece(piece);
  };
  const end = (status: number | null, traceId: string | null, problem: string | null): PlayEnd => ({
    ...{ status, traceId, firstMs, problem, wasStopped: signal.aborted },
    totalMs: performance.now() - begunAt,
  });
  let answer: Response;
  try {
    answer = await fetch(apiOrigin + surface.path(request), {
      method: 'POST',
      credentials: 'omit',
      referrerPolicy: 'no-referrer',
      headers: { 'content-type': 'application/json', ...keyHeaders(surface, secret) },
      body: JSON.stringify(bodyOf(surface, request)),
      signal,
    });
  } catch (error) {
    return end(null, null, signal.aborted ? null : String(error));
  }
  const traceId = answer.headers.get('x-trace-id');
  if (!answer.ok) return end(answer.status, traceId, await answer.text().catch(String));
  try {
    if (request.stream) await readEvents(answer, (event) => surface.pieces(event).forEach(tell));
    else surface.pieces((await answer.json()) as Json).forEach(tell);
  } catch (error) {
    if (!signal.aborted) return end(answer.status, traceId, String(error));
  }
  return end(answer.status, traceId, null);
}

export function keyHeaders(
  { keyHeader }: Pick<Surface, 'keyHeader'>,
  secret: string,
): Record<string, string> {
  return { [keyHeader]: keyHeader === 'authorization' ? `Bearer ${secret}` : secret };
}

/** Reads server-sent events; what is no JSON, such as an end mark, is passed over. */
async function readEvents(answer: Response, onEvent: (event: Json) => void): Promise<void> {
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
  if (reader === undefined) return;
  let rest = '';
  for (;;) {
    const { done, value } = await reader.read();
    const frames = (rest + (value ?? '')).split(/\r?\n\r?\n/);
    rest = done ? '' : (frames.pop() ?? '');
    for (const frame of frames) tellFrame(frame, onEvent);
    if (done) return;
    if (rest.length > frameMax) throw new Error('An event of the stream has no end.');
  }
}

function tellFrame(frame: string, onEvent: (event: Json) => void): void {
  const data = frame
    .split(/\r?\n/)
    .filter((line) => line.startsWith('data:'))
    .map((line) => line.slice(5).trimStart())
    .join('\n');
  if (!data.startsWith('{')) return;
  onEvent(JSON.parse(data) as Json);
}
