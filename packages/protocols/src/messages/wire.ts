import type { Need } from '../inbound-request.ts';

/** Members of a request that are read; a second one of the same name is refused. */
export const requestMembers = [
  'model',
  'system',
  'messages',
  'stream',
  'max_tokens',
  'tools',
  'metadata',
  'thinking',
  'thread',
  'container',
  'output_config',
  'output_format',
] as const;

export type RequestMember = (typeof requestMembers)[number];

/** Types of content blocks that not every model can read. */
export const blockNeeds = {
  image: 'image-input',
  document: 'file-input',
} as const satisfies Record<string, Need>;

/** Members of a block or a delta that hold text the model wrote; ids, names, types and signatures it did not. */
export const textMembers = ['text', 'thinking', 'partial_json', 'content'] as const;

/** Types of blocks that are nothing until a delta comes. */
export const emptyBlockTypes: ReadonlySet<unknown> = new Set(['text', 'thinking', 'compaction']);
