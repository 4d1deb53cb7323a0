import { JsonReader } from '../bytes/json-reader.ts';
import type { AnswerReading } from '../protocol.ts';
import { parseJson, refusalOf } from '../refusal.ts';
import { type Members, readMembers } from './members.ts';
import { RunningReading } from './reading.ts';
import { type AnswerMember, answerNames } from './wire.ts';

const decoder = new TextDecoder();

/** Reads a whole JSON answer of status 200, which may be an error all the same. Its images are not decoded. */
export function readAnswer(body: Uint8Array): AnswerReading {
  const reader = new JsonReader(body);
  const members = readMembers(reader, answerNames);
  const data = members?.start('data') ?? null;
  if (members !== null && data !== null && reader.isAtEnd()) {
    const images = new JsonReader(body, data);
    if (images.kind === 'array') return { kind: 'answer', reading: readImages(members, images) };
  }
  const text = decoder.decode(body);
  return { kind: 'refusal', refusal: refusalOf(parseJson(text), text) };
}

function readImages(members: Members<AnswerMember>, images: JsonReader): RunningReading {
  const reading = new RunningReading();
  images.enterArray();
  while (images.nextElement()) {
    const image = readMembers(images, answerNames);
    if (image !== null && hasImage(image)) reading.takeImage();
  }
  reading.takeTerms(members);
  return reading;
}

/** Whether there is a picture, in either form. */
export function hasImage(members: Members<AnswerMember>): boolean {
  return members.isText('b64_json') || members.isText('url');
}
