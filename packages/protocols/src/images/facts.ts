import type { StringWatch } from '../bytes/json-skip.ts';
import { KeyNames } from '../bytes/key-names.ts';
import type { Edit } from '../bytes/splice.ts';
import type { Fault } from '../error.ts';
import { type ImageKind, kindWord } from '../image-kind.ts';
import type { Facts } from '../inbound-request.ts';
import { modelEdits } from '../request/edits.ts';
import { outputTokensMax, readModel, readStream, readWhole } from '../request/read-members.ts';
import { findMembers, type RequestMembers } from '../request/request-members.ts';
import { jsonType } from '../request/upstream-request.ts';
import { type Result, succeed } from '../result.ts';
import { type RequestMember, requestMembers } from './wire.ts';

/** A request as read, from JSON or from a form. */
export interface ReadRequest {
  readonly facts: Facts;
  readonly body: Uint8Array;
  /** A form's as it came, since its boundary is in it. */
  readonly contentType: string;
  /** Puts the upstream's own name in the place of the alias. */
  modelEdits(upstreamModel: string): readonly Edit[];
}

/** What a request says that its facts follow from. */
export interface Wishes {
  readonly model: string;
  readonly stream: boolean;
  readonly choices: number | null;
  readonly promptBytes: number;
  /** Images to be read, masks included. */
  readonly pictures: number;
  readonly kind: ImageKind;
}

/** Bytes of text per token, as for any other text. */
const bytesPerToken = 4;
/** What a picture is taken for. Tokens; for admission only. */
const tokensPerPicture = 1_000;

export function factsOf(wishes: Wishes): Facts {
  const { model, stream, choices, promptBytes, pictures, kind } = wishes;
  return {
    model,
    stream,
    maxOutputTokens: null,
    inputTokensEstimate: Math.ceil(promptBytes / bytesPerToken) + pictures * tokensPerPicture,
    choices: choices ?? 1,
    needs: new Set(pictures > 0 ? ['image-input'] : []),
    imageKind: kind,
  };
}

const names = new KeyNames<RequestMember>(requestMembers);
/** The images are counted and not looked into. */
const noWatch: StringWatch = { lengths: 0, longerThan: Number.POSITIVE_INFINITY, see: () => {} };

/** Reads JSON. What is wrong for this protocol alone, such as a missing prompt, is for the upstream to say. */
export function readJson(body: Uint8Array): Result<ReadRequest, Fault> {
  const found = findMembers<RequestMember>(body, names, { name: 'images', watch: noWatch });
  if (!found.ok) return found;
  const members = found.value;
  const model = readModel(members);
  if (!model.ok) return model;
  const stream = readStream(members);
  if (!stream.ok) return stream;
  const choices = readWhole(members, 'n', [1, outputTokensMax]);
  if (!choices.ok) return choices;
  const facts = factsOf({
    model: model.value,
    stream: stream.value,
    choices: choices.value,
    promptBytes: lengthOf(members, 'prompt'),
    pictures: countPictures(members),
    kind: { size: kindWord(members.value('size')), quality: kindWord(members.value('quality')) },
  });
  const edits = (upstreamModel: string) => modelEdits(members.span('model'), facts.model, upstreamModel);
  return succeed({ facts, body, contentType: jsonType, modelEdits: edits });
}

function lengthOf(members: RequestMembers<RequestMember>, name: RequestMember): number {
  const span = members.span(name);
  return span === undefined ? 0 : span.end - span.start;
}

/** One each, or a list of them; some servers take a single `image`. */
function countPictures(members: RequestMembers<RequestMember>): number {
  return (['images', 'image', 'mask'] as const).reduce((sum, name) => sum + countIn(members, name), 0);
}

function countIn(members: RequestMembers<RequestMember>, name: RequestMember): number {
  const reader = members.reader(name);
  if (reader === null || reader.kind === 'null') return 0;
  if (!reader.enterArray()) return 1;
  let count = 0;
  for (; reader.nextElement(); count++) reader.skip();
  return count;
}
