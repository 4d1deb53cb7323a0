import { KeyNames } from '../bytes/json-text.ts';

/** Members and fields of a request that are read; a second one of the same name is refused. */
export const requestMembers = [
  'model',
  'prompt',
  'stream',
  'n',
  'size',
  'quality',
  'images',
  'image',
  'mask',
] as const;

export type RequestMember = (typeof requestMembers)[number];

const answerMembers = [
  'data',
  'type',
  'size',
  'quality',
  'model',
  'usage',
  'error',
  'b64_json',
  'url',
] as const;

export type AnswerMember = (typeof answerMembers)[number];

/** Members of a whole answer, of each image in it, and of every event of a stream. */
export const answerNames = new KeyNames<AnswerMember>(answerMembers);

/** The last segment of the path, here and at upstreams. */
export type ImageOperation = 'generations' | 'edits';
