import { depthMax } from '../bytes/scan.ts';
import type { ToolName, ToolNames } from '../codec.ts';
import { dropped, type Loss } from '../codec.ts';
import type { CustomTool, FunctionTool, Tool, ToolCallBlock, Turn } from '../turn.ts';
import { isRecord, type WireRecord } from '../wire-values.ts';

/** The rule for what a protocol takes as the name of a tool, or as the id of a call. */
export interface NameRule {
  /** One character that may stand anywhere in it. */
  readonly legal: RegExp;
  /** One that may stand first. */
  readonly legalFirst: RegExp;
  readonly lengthMax: number;
}

const fingerprintLength = 12;

/**
 * The names under which a request's tools are sent: the caller's own where the target takes them, else ones made from them.
 * The same tools always get the same names, so that prompt caches hold; no two get the same one.
 */
export class ToolNaming {
  readonly #sent = new Map<string, string>();
  readonly #names = new Map<string, ToolName>();

  /** Names every tool of the request, and every one that its history alone knows. */
  constructor(turn: Turn, rule: NameRule) {
    const known = [...turn.tools.map(toolNameOf), ...calledNames(turn)];
    // Names that need no change keep theirs, whatever is made of others.
    const kept = known.filter((tool) => isKept(tool, rule));
    for (const tool of [...kept, ...known.filter((tool) => !isKept(tool, rule))]) this.#add(tool, rule);
  }

  /** Under which name a tool is sent. */
  sent({ name, namespace }: Pick<ToolName, 'name' | 'namespace'>): string {
    return this.#sent.get(keyOf(name, namespace)) ?? name;
  }

  /** The same for a choice by name alone, whatever its namespace. */
  sentByName(name: string): string {
    const own = this.#sent.get(keyOf(name, null));
    if (own !== undefined) return own;
    for (const [sent, tool] of this.#names) if (tool.name === name) return sent;
    return name;
  }

  /** The tools that the upstream's names stand for, where they or their form are not the caller's. */
  get names(): ToolNames {
    return new Map([...this.#names].filter(([sent, tool]) => sent !== tool.name || tool.form === 'custom'));
  }

  #add(tool: ToolName, rule: NameRule): void {
    const key = keyOf(tool.name, tool.namespace);
    if (this.#sent.has(key)) return;
    const sent = this.#free(isKept(tool, rule) ? tool.name : legalName(fullName(tool), rule), rule);
    this.#sent.set(key, sent);
    this.#names.set(sent, tool);
  }

  #free(wanted: string, rule: NameRule): string {
    let name = wanted;
    for (let n = 2; this.#names.has(name); n++) name = legalName(`${wanted}#${n}`, rule);
    return name;
  }
}

/** The caller's own tool behind the name that an upstream has for it. */
export function callersTool(names: ToolNames, sent: string, form: ToolName['form'] = 'function'): ToolName {
  return names.get(sent) ?? { name: sent, namespace: null, form };
}

function toolNameOf({ name, namespace, kind }: Tool): ToolName {
  return { name, namespace, form: kind };
}

function calledNames({ messages }: Turn): readonly ToolName[] {
  return messages
    .flatMap(({ content }) => content)
    .filter((block): block is ToolCallBlock => block.kind === 'tool-call')
    .map(({ name, namespace, form }) => ({ name, namespace, form }));
}

function isKept({ name, namespace }: ToolName, rule: NameRule): boolean {
  return namespace === null && isLegal(name, rule);
}

function fullName({ name, namespace }: ToolName): string {
  return namespace === null ? name : `${namespace}__${name}`;
}

function keyOf(name: string, namespace: string | null): string {
  return `${namespace ?? ''}\n${name}`;
}

function isLegal(text: string, { legal, legalFirst, lengthMax }: NameRule): boolean {
  if (text === '' || text.length > lengthMax || !legalFirst.test(text.charAt(0))) return false;
  return [...text].every((character) => legal.test(character));
}

/**
 * The text itself where it is legal; else what is legal of it and a fingerprint of the whole, which keeps apart what would
 * be the same without.
 */
export function legalName(text: string, rule: NameRule): string {
  if (isLegal(text, rule)) return text;
  // In a text of megabytes, no more is looked at than can be kept; a character may be two units.
  const kept = [...text.slice(0, 2 * rule.lengthMax)]
    .map((character) => (rule.legal.test(character) ? character : '_'))
    .join('');
  const started = rule.legalFirst.test(kept.charAt(0)) ? kept : `t${kept}`;
  const room = Math.max(0, rule.lengthMax - fingerprintLength - 1);
  return `${started.slice(0, room)}_${fingerprint(text)}`;
}

/** Two FNV-1a hashes of 32 bits over the UTF-16 units, from both ends, in 12 letters of base 36. */
export function fingerprint(text: string): string {
  let forward = 0x811c9dc5;
  let backward = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) {
    forward = Math.imul(forward ^ text.charCodeAt(at), 0x01000193);
    backward = Math.imul(backward ^ text.charCodeAt(text.length - 1 - at), 0x01000193);
  }
  return [forward, backward].map((hash) => (hash >>> 0).toString(36).padStart(7, '0').slice(-6)).join('');
}

/**
 * A tool of free text at a target that has functions only: a function with that text as its one argument. The grammar, if
 * it has one, becomes words.
 */
export function customAsFunction(tool: CustomTool): FunctionTool {
  const { name, namespace } = tool;
  return {
    kind: 'function',
    name,
    namespace,
    description: [tool.description, ...grammarWords(tool)].filter((text) => text !== '').join('\n\n'),
    parameters: {
      type: 'object',
      properties: { input: { type: 'string', description: 'The whole input, as plain text.' } },
      required: ['input'],
      additionalProperties: false,
    },
    strict: null,
    cacheTtl: null,
  };
}

/** A grammar that is told in words loses its force: nothing holds the model to it. */
export function customToolLosses(tools: readonly Tool[]): readonly Loss[] {
  const hasGrammar = tools.some((tool) => tool.kind === 'custom' && grammarWords(tool).length > 0);
  return hasGrammar ? [dropped('tools[].format', 'told to the model in words')] : [];
}

/** The input of a tool of free text as the arguments of the function in its place. */
export function wrapInput(input: string): string {
  return JSON.stringify({ input });
}

/** The other way round. Arguments that are not as they were asked for are the input as they stand. */
export function unwrapInput(text: string): string {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) && typeof value['input'] === 'string' ? value['input'] : text;
  } catch {
    return text;
  }
}

/** Reads `{type: 'grammar', syntax, definition}` or the same within `grammar`. */
function grammarWords({ format }: CustomTool): readonly string[] {
  if (format?.['type'] !== 'grammar') return [];
  const grammar = isRecord(format['grammar']) ? format['grammar'] : format;
  const { definition, syntax } = grammar;
  if (typeof definition !== 'string') return [];
  const kind = typeof syntax === 'string' ? `${syntax} ` : '';
  return [`The input must follow this ${kind}grammar:\n${definition}`];
}

/** The JSON object of a text, an empty one for no text; null for anything else, and for what is nested too deep. */
export function parseObject(text: string): WireRecord | null {
  const trimmed = text.trim();
  if (trimmed === '') return {};
  // To fail at parsing is dear, and what tools return is mostly text.
  const value = trimmed.startsWith('{') ? parseShallow(trimmed) : null;
  return isRecord(value) ? value : null;
}

/** The JSON list of a text; null for anything else, and for what is nested too deep. */
export function parseList(text: string): readonly unknown[] | null {
  const value = text.startsWith('[') ? parseShallow(text) : null;
  return Array.isArray(value) ? value : null;
}

function parseShallow(text: string): unknown {
  if (isDeep(text)) return null;
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

const quote = 0x22;
const backslash = 0x5c;
const opening: readonly number[] = [0x5b, 0x7b];
const closing: readonly number[] = [0x5d, 0x7d];

/**
 * True when brackets that are no part of a string are nested deeper than those of any request: what is parsed here is written
 * again, and whoever writes it recurses. The body's own nesting does not tell, since a string of it can hold any.
 */
function isDeep(text: string): boolean {
  // Every level has two brackets.
  if (text.length <= 2 * depthMax) return false;
  let depth = 0;
  let isString = false;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === quote) isString = !isString;
    else if (unit === backslash) at++;
    else if (isString) continue;
    else if (opening.includes(unit)) depth++;
    else if (closing.includes(unit)) depth--;
    if (depth > depthMax) return true;
  }
  return false;
}
