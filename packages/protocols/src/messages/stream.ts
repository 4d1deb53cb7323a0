import type { TextSpan } from '../bytes/json-text.ts';
import { KeyNames } from '../bytes/json-text.ts';
import { JsonReader } from '../bytes/scan.ts';
import type { FrameRole } from '../protocol.ts';
import { parseJson, refusalOf } from '../refusal.ts';
import type { Dialect } from '../request.ts';
import { FrameReader } from '../stream-reader.ts';
import { isRecord, recordOf, type WireRecord } from '../wire-values.ts';
import { MessageReading } from './meter.ts';
import { textMembers } from './wire.ts';

/** Types that a name of an event can say. */
const plainType = /^[a-z_]{1,64}$/;
const stopFrame = new TextEncoder().encode('event: message_stop\ndata: {"type":"message_stop"}\n\n');

export class MessagesStreamReader extends FrameReader {
  readonly #dialect: Dialect;
  readonly reading: MessageReading;
  /** Its events have names: what has none is passed over by every client. */
  #isNamed = false;

  constructor(dialect: Dialect) {
    super();
    this.#dialect = dialect;
    this.reading = new MessageReading(dialect);
  }

  protected readOther(frame: Uint8Array): FrameRole {
    return this.readUnusual(frame);
  }

  protected readData(data: string, name: string | null, frame: Uint8Array): FrameRole {
    if (data === '' || data === '[DONE]' || name === 'ping') return 'liveness';
    const value = parseJson(data);
    if (name !== null) this.#isNamed = true;
    if (value === undefined && name === null && this.#isNamed) return this.skipOrFail(data);
    if (!isRecord(value)) return this.fail(refusalOf(value, data));
    const type = typeof value['type'] === 'string' ? value['type'] : name;
    if (name === null && type !== null && plainType.test(type)) this.retell({ name: type, data });
    return this.#take(type, value, frame, data);
  }

  override missingEnd(): Uint8Array {
    return stopFrame;
  }

  isWholeWithoutTerminal(): boolean {
    return (
      this.#dialect.streamEnd === 'finish-reason' &&
      this.reading.finishReasonRaw !== null &&
      this.refusal === null
    );
  }

  #take(type: string | null, event: WireRecord, frame: Uint8Array, data: string): FrameRole {
    switch (type) {
      case 'ping':
        return 'liveness';
      case 'message_start':
        this.reading.open(recordOf(event['message']));
        return 'preamble';
      case 'content_block_start':
        return this.reading.takeBlock(recordOf(event['content_block'])) ? 'content' : 'preamble';
      case 'content_block_delta':
        return this.#takeDelta(recordOf(event['delta']), frame);
      case 'message_delta':
        this.reading.close(recordOf(event['delta']), event['usage']);
        return 'finish';
      case 'message_stop':
        return 'terminal';
      default:
        return this.#takeOther(type, event, data);
    }
  }

  #takeDelta(delta: WireRecord, frame: Uint8Array): FrameRole {
    if (!this.reading.takeDelta(delta)) return 'preamble';
    // Frames that are retold are read one by one.
    const text = this.retold === null ? findDeltaText(frame) : null;
    if (text !== null) this.plain.learn(frame, text, []);
    return 'content';
  }

  /** Errors; the ends of blocks and events of days to come, which pass; and what has no type, which is not of the protocol. */
  #takeOther(type: string | null, event: WireRecord, data: string): FrameRole {
    const isError = type === 'error' || type === null || isRecord(event['error']);
    return isError ? this.fail(refusalOf(event, data)) : 'preamble';
  }
}

const deltaName = new KeyNames(['delta']);
const textNames = new KeyNames(textMembers);

/** Finds the only text of a delta in its frame; null when the frame or the delta is not of the usual shape. */
function findDeltaText(frame: Uint8Array): TextSpan | null {
  const reader = new JsonReader(frame, frame.indexOf(0x7b));
  let found: TextSpan | null = null;
  if (!reader.enterObject()) return null;
  while (reader.nextMember()) {
    if (deltaName.find(frame, reader.keyStart, reader.keyEnd) === null) reader.skip();
    else found = findText(reader);
  }
  return reader.isAtEnd() ? found : null;
}

function findText(reader: JsonReader): TextSpan | null {
  if (!reader.enterObject()) return null;
  let found: TextSpan | null = null;
  let others = 0;
  while (reader.nextMember()) {
    const isText = textNames.find(reader.bytes, reader.keyStart, reader.keyEnd) !== null;
    const { at: start, kind } = reader;
    const end = reader.skip();
    if (isText && kind === 'string') found = { start, end };
    else others++;
  }
  // Its type is the one other member of a plain delta.
  return others === 1 ? found : null;
}
