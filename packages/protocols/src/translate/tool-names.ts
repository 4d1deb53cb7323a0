import type { ToolName, ToolNames } from '../codec.ts';
import type { Tool, ToolCallBlock, Turn } from '../turn.ts';

/** What a protocol takes as the name of a tool, or as the id of a call. */
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

  /** What the upstream's names stand for, where they or their form are not the caller's. */
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
  // Of what is megabytes long, no more is looked at than can be kept; a character may be two units.
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
