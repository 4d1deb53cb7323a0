import type { SeededRandom } from '../simulate/seeded-random.ts';

/** JSON as it will be written: text of a scalar, or a container. Names of members are text too, so that one can stand twice. */
export type Json = string | JsonList | JsonObject;

interface JsonList {
  readonly items: Json[];
}

interface JsonObject {
  readonly members: [name: string, value: Json][];
}

/** Deep enough for every limit of depth, and short enough to be sent often. */
const depths = [3, 64, 600, 5000];
const repeats = [2, 30, 1500];
/** A body stays so small that a million of them can be sent. */
const repeatedBytesMax = 60_000;

/** Values at which readers and writers of JSON have failed somewhere. Some are no JSON. */
const oddValues: readonly string[] = [
  'null',
  'true',
  'false',
  '0',
  '-0',
  '-1',
  '0.1',
  '1e-400',
  '1e999',
  '9007199254740993',
  '12345678901234567890123456789',
  '-99999999999999999999',
  '1.7976931348623157e308',
  '""',
  '" "',
  '"\\u0000"',
  '"\\ud800"',
  '"x\\udc00\\ud83d"',
  '"\\ud83d\\ude00"',
  '"__proto__"',
  '"constructor"',
  '"\\"}],\\"model\\":\\"x\\""',
  '"data:image/png;base64,"',
  '"data:,"',
  '"http://127.0.0.1:1/x.png"',
  '"file:///etc/passwd"',
  '"2026-11-22T00:00:00Z"',
  '"/../../"',
  '"\\r\\nx-injected: 1"',
  '"{\\"a\\":"',
  '[]',
  '{}',
  '[null]',
  '[[]]',
  '[{}]',
  '{"":""}',
  '{"__proto__":{"stream":true}}',
  '{"type":"text","text":null}',
  'NaN',
  '01',
  '+1',
  '1.',
  "'x'",
  'undefined',
  '"\t"',
  '"unfinished',
  '',
];

const oddNames: readonly string[] = [
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  '',
  'type',
  'role',
  'content',
  'text',
  'id',
  'name',
  'model',
  'models',
  'stream',
  'stream_options',
  'tools',
  'tool_calls',
  'tool_choice',
  'input',
  'messages',
  'contents',
  'parts',
  'n',
  'max_tokens',
  'max_completion_tokens',
  'max_output_tokens',
  'thinking',
  'reasoning',
  'reasoning_effort',
  'service_tier',
  'response_format',
  'logprobs',
  'previous_response_id',
  'background',
  'store',
  'modalities',
  'fallbacks',
  'extra_body',
  'cache_control',
  'safetySettings',
  'generationConfig',
  'cachedContent',
];

/** Words that stand in members named `type` or `role`, of every surface. */
const kindWords: readonly string[] = [
  'text',
  'input_text',
  'output_text',
  'image_url',
  'input_image',
  'image',
  'document',
  'input_file',
  'input_audio',
  'file',
  'refusal',
  'thinking',
  'redacted_thinking',
  'reasoning',
  'tool_use',
  'tool_result',
  'function',
  'function_call',
  'function_call_output',
  'custom_tool_call',
  'item_reference',
  'message',
  'computer_use',
  'web_search',
  'json_schema',
  'json_object',
  'ephemeral',
  'enabled',
  'adaptive',
  'user',
  'assistant',
  'system',
  'developer',
  'tool',
  'model',
];

/** The tree of a value, to be changed and written. */
export function treeOf(value: unknown): Json {
  if (Array.isArray(value)) return { items: value.map(treeOf) };
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  return { members: Object.entries(value).map(([name, own]) => [JSON.stringify(name), treeOf(own)]) };
}

export function textOf(tree: Json): string {
  if (typeof tree === 'string') return tree;
  if ('items' in tree) return `[${tree.items.map(textOf).join(',')}]`;
  return `{${tree.members.map(([name, value]) => `${name}:${textOf(value)}`).join(',')}}`;
}

/** Changes the tree at one to four places of its own choice. */
export function mutate(tree: Json, random: SeededRandom): void {
  for (let left = 1 + random.below(4); left > 0; left--) {
    const slots: Slot[] = [];
    collect(tree, slots);
    if (slots.length === 0) return;
    change(random.pick(slots), slots, random);
  }
}

/** Where a value stands: reading, putting another one there, and its container. */
type Slot =
  | { readonly list: Json[]; readonly place: number; readonly members?: undefined }
  | { readonly members: JsonObject['members']; readonly place: number };

function collect(tree: Json, slots: Slot[]): void {
  if (typeof tree === 'string') return;
  if ('items' in tree) {
    for (const [place, item] of tree.items.entries()) {
      slots.push({ list: tree.items, place });
      collect(item, slots);
    }
    return;
  }
  for (const [place, [, value]] of tree.members.entries()) {
    slots.push({ members: tree.members, place });
    collect(value, slots);
  }
}

function valueAt(slot: Slot): Json {
  return (slot.members === undefined ? slot.list[slot.place] : slot.members[slot.place]?.[1]) ?? 'null';
}

function put(slot: Slot, value: Json): void {
  if (slot.members === undefined) slot.list[slot.place] = value;
  else slot.members[slot.place] = [slot.members[slot.place]?.[0] ?? '"x"', value];
}

function change(slot: Slot, slots: readonly Slot[], random: SeededRandom): void {
  switch (random.below(12)) {
    case 0:
    case 1:
    case 2:
      return put(slot, random.pick(oddValues));
    case 3:
      return put(slot, JSON.stringify(random.pick(kindWords)));
    case 4:
      return put(slot, copyOf(valueAt(random.pick(slots))));
    case 5:
      return double(slot, random);
    case 6:
      return remove(slot);
    case 7:
      return rename(slot, random);
    case 8:
      return nest(slot, random);
    case 9:
      return repeat(slot, random);
    case 10:
      return put(slot, typeof valueAt(slot) === 'string' ? longText(random) : random.pick(['[]', '{}']));
    default:
      return add(slot, random);
  }
}

/** A value that stands in two places must not be changed in both at once, lest it holds itself. */
function copyOf(tree: Json): Json {
  return textOf(tree);
}

function double(slot: Slot, random: SeededRandom): void {
  const again = random.below(2) === 0 ? copyOf(valueAt(slot)) : random.pick(oddValues);
  if (slot.members === undefined) slot.list.splice(slot.place, 0, again);
  else
    slot.members.splice(random.below(slot.members.length + 1), 0, [
      slot.members[slot.place]?.[0] ?? '""',
      again,
    ]);
}

function remove(slot: Slot): void {
  if (slot.members === undefined) slot.list.splice(slot.place, 1);
  else slot.members.splice(slot.place, 1);
}

function rename(slot: Slot, random: SeededRandom): void {
  if (slot.members === undefined) return put(slot, random.pick(oddValues));
  slot.members[slot.place] = [nameText(random), valueAt(slot)];
}

function add(slot: Slot, random: SeededRandom): void {
  if (slot.members === undefined) slot.list.push(random.pick(oddValues));
  else
    slot.members.splice(random.below(slot.members.length + 1), 0, [nameText(random), random.pick(oddValues)]);
}

/** As it is, or spelt by escapes, or half of a pair of surrogates. */
function nameText(random: SeededRandom): string {
  const name = random.pick(oddNames);
  switch (random.below(8)) {
    case 0:
      return `"${Array.from(name, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')}"`;
    case 1:
      return '"\\ud800"';
    default:
      return JSON.stringify(name);
  }
}

function nest(slot: Slot, random: SeededRandom): void {
  const depth = random.pick(depths);
  const [open, close] = random.below(2) === 0 ? ['[', ']'] : ['{"a":', '}'];
  // Sometimes it is not closed again.
  const closed = random.below(8) === 0 ? '' : close.repeat(depth);
  put(slot, `${open.repeat(depth)}${copyOf(valueAt(slot)) as string}${closed}`);
}

function repeat(slot: Slot, random: SeededRandom): void {
  const text = copyOf(valueAt(slot)) as string;
  const count = Math.min(random.pick(repeats), Math.ceil(repeatedBytesMax / (text.length + 1)));
  const many = Array.from({ length: count }, () => text);
  if (slot.members === undefined) slot.list.splice(slot.place, 1, ...many);
  else put(slot, `[${many.join(',')}]`);
}

function longText(random: SeededRandom): string {
  const piece = random.pick(['x', 'wörd ', '\\ud83d', '\\n', '\\"', '𝄞', '\\u0000', 'data: [DONE]\\n\\n']);
  return `"${piece.repeat(1 + random.below(random.pick([10, 300, 8000])))}"`;
}
