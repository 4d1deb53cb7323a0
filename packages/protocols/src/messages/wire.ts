import { type Fault, fault } from '../error.ts';
import type { Dialect, HeaderLookup, Need } from '../request.ts';
import { fail, type Result, succeed } from '../result.ts';
import type { CacheTtl, Surface, Turn } from '../turn.ts';
import { recordOf, type WireRecord } from '../wire-values.ts';

/** Members of a request that are read; a second one of the same name is refused. */
export const requestMembers = [
  'model',
  'system',
  'messages',
  'stream',
  'max_tokens',
  'tools',
  'tool_choice',
  'metadata',
  'plugins',
  'thinking',
  'thread',
  'container',
  'output_config',
  'output_format',
  'service_tier',
  'speed',
  'inference_geo',
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

/** All that the caller's headers say in this protocol. */
export interface ProtocolHeaders {
  /** A date; null when the caller leaves it to the channel. */
  readonly version: string | null;
  /** Names of features in trial, as sent; null when there are none. */
  readonly betas: string | null;
}

const versionNames = ['neutral-version', 'anthropic-version'] as const;
const betaNames = ['neutral-beta', 'anthropic-beta'] as const;

/** A date in form; which dates there are is for the upstream to say. */
const datePattern = /^\d{4}-\d{2}-\d{2}$/;

/** Reads the headers under our names for them or their vendor's. A version that is no date is refused by its name. */
export function readHeaders(header: HeaderLookup): Result<ProtocolHeaders, Fault> {
  const betas = betaNames.flatMap((name) => header(name) ?? []);
  const read = { version: null, betas: betas.length === 0 ? null : betas.join(',') };
  for (const name of versionNames) {
    const version = header(name);
    if (version === undefined) continue;
    return datePattern.test(version) ? succeed({ ...read, version }) : fail(malformedVersion(name));
  }
  return succeed(read);
}

function malformedVersion(name: string): Fault {
  const message = `The '${name}' header must be a date of the form YYYY-MM-DD, or be left out.`;
  return fault('invalid_request', { message, param: name });
}

/** The same for an upstream, which knows the vendor's names alone and insists on a version. */
export function upstreamHeaders({ version, betas }: ProtocolHeaders, dialect: Dialect): readonly string[] {
  const versioned = ['anthropic-version', version ?? dialect.messagesVersion];
  return betas === null ? versioned : [...versioned, 'anthropic-beta', betas];
}

/** How long the prompt up to this block or tool is to be cached. */
export function readCacheTtl(wire: WireRecord): CacheTtl {
  const control = recordOf(wire['cache_control']);
  if (control['type'] !== 'ephemeral') return null;
  return control['ttl'] === '1h' ? '1h' : '5m';
}

/** More of them are refused by the vendor. */
const breakpointsMax = 4;

/** Writes the breakpoints of a request in the order of its prompt; where there are too many, the last ones, which reach furthest. */
export class CacheBreakpoints {
  #skipped: number;

  constructor(turn: Turn) {
    this.#skipped = Math.max(0, ttlsOf(turn).filter((ttl) => ttl !== null).length - breakpointsMax);
  }

  write(ttl: CacheTtl): WireRecord {
    if (ttl === null || this.#skipped-- > 0) return {};
    return { cache_control: ttl === '5m' ? { type: 'ephemeral' } : { type: 'ephemeral', ttl } };
  }
}

function ttlsOf({ tools, system, messages }: Turn): readonly CacheTtl[] {
  const blocks = messages.flatMap(({ content }) => content);
  const inner = blocks.flatMap((block) => (block.kind === 'tool-result' ? block.content : []));
  return [...tools, ...system, ...blocks, ...inner].map((part) =>
    'cacheTtl' in part ? part.cacheTtl : null,
  );
}

export const messagesSurface: Surface = {
  id: 'messages',
  enforcesSchemas: false,
  media: {
    image: 'messages[].content[].image',
    audio: 'messages[].content[].audio',
    file: 'messages[].content[].document',
  },
  sealed: 'messages[].content[].thinking',
  arguments: 'messages[].content[].input',
  toolChoice: 'tool_choice',
  traits: {
    citations: 'messages[].content[].citations',
    'cache-mark': 'cache_control',
    'image-detail': 'messages[].content[].image',
    filename: 'messages[].content[].title',
    'media-name': 'messages[].content[].image',
    'call-seal': 'messages[].content[].thinking',
  },
};
