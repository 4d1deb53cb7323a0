// A process: the fastest upstream that Node can be. Bytes are prepared ahead, requests are only counted to their
// end, and one timer feeds every stream. Prints its port as a JSON line; reads `feed` and `hold` from standard input,
// because opening thousands of streams takes long while the open ones keep everybody busy.
import { createServer, type Socket } from 'node:net';
import { stampedFrame, streamOpening, wholeAnswer } from './fixed-answer.ts';

/** Frames per second on every stream. */
const frameRate = Number(process.argv[2]);
/** Streams take turns in this many slots of a frame's period, so that frames do not leave in one burst. */
const slotCount = 10;

const answer = wholeAnswer();
const opening = streamOpening();
const slots = Array.from({ length: slotCount }, () => new Set<Socket>());
let nextSlot = 0;
let feeding = false;

const server = createServer({ noDelay: true }, (socket) => {
  let bodyBytesLeft = 0;
  let streams = false;
  socket.on('data', (chunk: Buffer) => {
    if (bodyBytesLeft === 0) {
      const request = readHead(chunk);
      streams = request.streams;
      bodyBytesLeft = request.totalBytes;
    }
    bodyBytesLeft -= chunk.length;
    if (bodyBytesLeft > 0) return;
    bodyBytesLeft = 0;
    if (streams) openStream(socket);
    else socket.write(answer);
  });
  // Whoever measures closes its streams without notice.
  socket.on('error', () => socket.destroy());
});

/** A request's length, head included, and whether it asks for a stream. The head always comes in one piece. */
function readHead(chunk: Buffer): { totalBytes: number; streams: boolean } {
  const headBytes = chunk.indexOf('\r\n\r\n') + 4;
  const length = /\r\ncontent-length: *(\d+)/i.exec(chunk.toString('latin1', 0, headBytes))?.[1];
  if (headBytes < 4 || length === undefined)
    throw new Error('The benchmark expects a whole head with a content-length.');
  const start = chunk.toString('latin1', headBytes, headBytes + 100);
  return { totalBytes: headBytes + Number(length), streams: start.includes('"stream":true') };
}

function openStream(socket: Socket): void {
  const slot = slots[nextSlot++ % slotCount];
  socket.write(opening);
  slot?.add(socket);
  socket.once('close', () => slot?.delete(socket));
}

/** Feeds the slots whose time has come. */
function feedStreams(): void {
  const due = Math.floor((performance.now() - startedAt) / slotMs);
  // After a stall the missed turns are lost, as they would be in a model that stalled.
  fed = Math.max(fed, due - slotCount);
  while (fed < due) {
    const frame = stampedFrame(Number(process.hrtime.bigint() / 1000n));
    if (feeding) feedSlot(slots[fed % slotCount] ?? new Set(), frame);
    fed++;
  }
}

/** A stream that is not being read loses the frame instead of queueing it. */
function feedSlot(slot: ReadonlySet<Socket>, frame: Buffer): void {
  for (const socket of slot) {
    if (!socket.writableNeedDrain) socket.write(frame);
  }
}

const slotMs = 1000 / frameRate / slotCount;
const startedAt = performance.now();
let fed = 0;
setInterval(feedStreams, 1);

process.stdin.on('data', (command) => {
  feeding = String(command).trim().endsWith('feed');
});
// The benchmark is gone, however it went.
process.stdin.on('end', () => process.exit());

server.listen({ host: '127.0.0.1', port: 0, backlog: 4096 }, () => {
  const address = server.address();
  console.log(JSON.stringify({ port: typeof address === 'object' ? address?.port : null }));
});
