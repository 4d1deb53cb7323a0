import { decodeString, KeyNames } from '../bytes/json-text.ts';
import type { JsonReader } from '../bytes/scan.ts';
import type { Edit } from '../bytes/splice.ts';
import type { Ask } from '../request.ts';
import { plainWord } from '../translate/reading.ts';
import { noTerms, type UsageTerms } from '../usage.ts';
import { isRecord, listOf, recordOf, stringOf, type WireRecord } from '../wire-values.ts';
import { type ElementSpan, leaveOut } from './edits.ts';
import type { RequestMembers } from './members.ts';

type ToolTerm = Exclude<Ask['term'], 'service' | 'region'>;

/** How the names begin of tools that run at the upstream and have a fee, each with what it is counted as. */
export type FeeTools = readonly (readonly [beginning: string, term: ToolTerm])[];

/** The terms asked for, each under the first of the members it may stand in that is there. */
export function termAsks<Name extends string>(
  members: RequestMembers<Name>,
  { service, region }: UsageTerms = noTerms,
  fields: { readonly service: readonly Name[]; readonly region?: Name },
): readonly Ask[] {
  const named = fields.service.find((name) => members.span(name) !== undefined);
  return [
    ...(service === null || named === undefined ? [] : [{ term: 'service' as const, field: named }]),
    ...(region === null || fields.region === undefined
      ? []
      : [{ term: 'region' as const, field: fields.region }]),
  ];
}

/** Parsers of files, and fetchers of pages, that cost nothing by the page. */
const freeEngines: ReadonlySet<unknown> = new Set(['native', 'pdf-text', 'cloudflare-ai']);

/**
 * Plugins that servers of others' models run once for each request and bill beside it, in whichever protocol they are called, with
 * what each is counted as. Those that repair, compress or choose a model cost nothing themselves.
 */
const paidPlugins: Readonly<
  Record<string, readonly [term: ToolTerm, isFree: (plugin: WireRecord) => boolean]>
> = {
  web: ['webSearches', () => false],
  'web-fetch': ['pages', ({ engine }) => freeEngines.has(engine)],
  // Without a word on the engine it reads files as the server does in any case.
  'file-parser': ['pages', ({ pdf }) => freeEngines.has(recordOf(pdf)['engine'] ?? 'native')],
};

/** The paid plugins of a request. A list that is too long to be read may hold one. */
export function pluginAsks(members: { value(name: 'plugins'): unknown }): readonly Ask[] {
  const plugins = members.value('plugins');
  if (plugins === undefined) return [{ term: 'webSearches', field: 'plugins' }];
  return listOf(plugins).flatMap((value): readonly Ask[] => {
    const plugin = recordOf(value);
    const paid = Object.entries(paidPlugins).find(
      ([id]) => id === stringOf(plugin['id'])?.replaceAll('_', '-'),
    );
    if (paid === undefined || plugin['enabled'] === false) return [];
    const [, [term, isFree]] = paid;
    return isFree(plugin) ? [] : [{ term, field: 'plugins' }];
  });
}

/** The terms of a request that has paid plugins, too: without one, nobody asks what it asks for. */
export function withPlugins(
  asked: { readonly terms?: UsageTerms },
  members: { value(name: 'plugins'): unknown },
): { readonly terms?: UsageTerms } {
  return pluginAsks(members).length === 0 ? asked : { terms: asked.terms ?? noTerms };
}

const typeName = new KeyNames(['type']);
/** Nearly all tools are the caller's own. */
const ownTypes = new KeyNames(['function', 'custom']);

/** The tools of a list whose `type` begins so. */
export function toolAsks(reader: JsonReader | null, tools: FeeTools): readonly Ask[] {
  return eachTool(reader, (member, index) => {
    const isType = typeName.findDecoded(member.bytes, member.keyStart, member.keyEnd) !== null;
    const start = member.at;
    const end = member.skip();
    if (!isType || end === -1 || ownTypes.find(member.bytes, start + 1, end - 1) !== null) return null;
    const type = decodeString(member.bytes, start, end);
    const found =
      type === null ? undefined : tools.find(([beginning]) => plainType(type).startsWith(beginning));
    return found === undefined
      ? null
      : {
          term: found[1],
          field: `tools[${index}].type`,
          tool: { index, name: `tools[].${plainWord(type ?? '')}` },
        };
  });
}

/** Servers that hand calls on to others may put their own name before it. */
function plainType(type: string): string {
  return type.slice(type.indexOf(':') + 1);
}

/** The tools of a list that are named by a member of their own, which the pattern knows. */
export function memberAsks(reader: JsonReader | null, tools: RegExp, term: ToolTerm): readonly Ask[] {
  return eachTool(reader, (member, index) => {
    const name = decodeString(member.bytes, member.keyStart - 1, member.keyEnd + 1) ?? '';
    member.skip();
    return tools.test(name) ? { term, field: `tools[${index}].${name}` } : null;
  });
}

function eachTool(
  reader: JsonReader | null,
  read: (member: JsonReader, index: number) => Ask | null,
): readonly Ask[] {
  const asks: Ask[] = [];
  if (reader === null || !reader.enterArray()) return asks;
  for (let index = 0; reader.nextElement(); index++) {
    if (!reader.enterObject()) continue;
    while (reader.nextMember()) {
      const ask = read(reader, index);
      if (ask !== null) asks.push(ask);
    }
  }
  return asks;
}

/**
 * The edits that leave tools out that the model is only offered; null where it is told to use tools, and where no other tool is left: then
 * the request is for these.
 */
export function withoutTools<Name extends string>(
  members: RequestMembers<Name | 'tools' | 'tool_choice'>,
  left: ReadonlySet<number>,
): readonly Edit[] | null {
  const reader = members.reader('tools');
  if (reader === null || !isOpen(members.value('tool_choice')) || !reader.enterArray()) return null;
  const elements: ElementSpan[] = [];
  for (let index = 0; reader.nextElement(); index++) {
    const start = reader.at;
    elements.push({ start, end: reader.skip(), isLeftOut: left.has(index) });
  }
  return elements.every(({ isLeftOut }) => isLeftOut) ? null : leaveOut('unpriced-tools', elements);
}

/** The model chooses by itself whether it uses a tool, or may not. */
function isOpen(choice: unknown): boolean {
  const kind = isRecord(choice) ? choice['type'] : (choice ?? 'auto');
  return kind === 'auto' || kind === 'none';
}
