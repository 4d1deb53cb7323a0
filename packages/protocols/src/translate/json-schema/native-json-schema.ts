import { isRecord, listOf, recordOf, type WireRecord, wordSet } from '../../wire-values.ts';
import { mapSubSchemas } from './references.ts';

interface NativeJsonSchema {
  readonly schema: WireRecord;
  /** Something is not enforced, which the caller's schema says. */
  readonly isLooser: boolean;
}

/** Read by the vendor; all others are passed over without a word. */
const read = wordSet(`
  $id $defs $ref $anchor definitions type format title description enum items prefixItems minItems maxItems minimum maximum anyOf
  oneOf properties additionalProperties required propertyOrdering default example examples $schema $comment`);

/**
 * JSON Schema as the native protocol's newer models read it: a part of its keywords. What has another spelling among those gets it;
 * the rest is not enforced, so that more is admitted, and never less.
 */
export function nativeJsonSchema(schema: WireRecord): NativeJsonSchema {
  let isLooser = false;
  const convert = (node: WireRecord): WireRecord => {
    const sent = onlyReference(withOpenNames(withoutConst(withoutPatterns(withoutAllOf(node)))));
    const isUnread = Object.keys(sent).some((name) => !read.has(name));
    if (isUnread || isRecord(node['patternProperties'])) isLooser = true;
    return mapSubSchemas(sent, convert);
  };
  return { schema: convert(schema), isLooser };
}

/** All of several parts are one, with the properties of all; a reference among them stays a part that is not read. */
function withoutAllOf(node: WireRecord): WireRecord {
  const { allOf, ...own } = node;
  const parts = listOf(allOf).map(recordOf);
  if (parts.length === 0) return node;
  const [only] = parts;
  // A description beside a reference is how many generators write one.
  if (parts.length === 1 && only !== undefined && own['properties'] === undefined) return { ...own, ...only };
  if (parts.some((part) => part['$ref'] !== undefined)) return node;
  const all = [own, ...parts];
  const properties = Object.fromEntries(all.flatMap((part) => Object.entries(recordOf(part['properties']))));
  const required = [...new Set(all.flatMap((part) => listOf(part['required'])))];
  return { ...Object.fromEntries(all.flatMap((part) => Object.entries(part))), properties, required };
}

/** Names that follow a pattern are any names. */
function withoutPatterns(node: WireRecord): WireRecord {
  const { patternProperties, additionalProperties: additional, ...rest } = node;
  if (!isRecord(patternProperties)) return node;
  const schemas = Object.values(patternProperties);
  const all = isRecord(additional) ? [...schemas, additional] : schemas;
  const [only, ...others] = all;
  return { ...rest, additionalProperties: others.length === 0 ? only : { anyOf: all } };
}

function withoutConst(node: WireRecord): WireRecord {
  const { const: only, ...rest } = node;
  return typeof only === 'string' || typeof only === 'number' ? { ...rest, enum: [only] } : node;
}

/** An object of which nothing is said may have any names, which is not assumed there. */
function withOpenNames(node: WireRecord): WireRecord {
  const isBare = node['type'] === 'object' && Object.keys(recordOf(node['properties'])).length === 0;
  return isBare && node['additionalProperties'] === undefined
    ? { ...node, additionalProperties: true }
    : node;
}

/** Beside a reference nothing is taken but what begins with its sign. */
function onlyReference(node: WireRecord): WireRecord {
  if (typeof node['$ref'] !== 'string') return node;
  return Object.fromEntries(Object.entries(node).filter(([name]) => name.startsWith('$')));
}
