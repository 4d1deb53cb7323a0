import { randomBytes, randomFillSync } from 'node:crypto';
import { gzipSync } from 'node:zlib';

export const bodySurfaces = [
  'chat-completions',
  'responses',
  'messages',
  'generate-content',
  'images',
] as const;
export type BodySurface = (typeof bodySurfaces)[number];

/** How a surface writes the things that a hostile body has many of. JSON texts. */
interface Words {
  readonly platform: 'completions' | 'messages' | 'native';
  path(model: string): string;
  readonly conversation: string;
  message(content: string): string;
  content(parts: string): string;
  part(text: string): string;
  image(url: string): string;
  tools(each: readonly string[]): string;
  tool(name: string, schema: string): string;
  readonly more: string;
}

const completions: Words = {
  platform: 'completions',
  path: () => '/v1/chat/completions',
  conversation: 'messages',
  message: (content) => `{"role":"user","content":${content}}`,
  content: (parts) => `[${parts}]`,
  part: (text) => `{"type":"text","text":${text}}`,
  image: (url) => `{"type":"image_url","image_url":{"url":${url}}}`,
  tools: (each) => `[${each.join()}]`,
  tool: (name, schema) => `{"type":"function","function":{"name":"${name}","parameters":${schema}}}`,
  more: '',
};

const words: Readonly<Record<BodySurface, Words>> = {
  'chat-completions': completions,
  responses: {
    ...completions,
    path: () => '/v1/responses',
    conversation: 'input',
    part: (text) => `{"type":"input_text","text":${text}}`,
    image: (url) => `{"type":"input_image","image_url":${url}}`,
    tool: (name, schema) => `{"type":"function","name":"${name}","parameters":${schema}}`,
  },
  messages: {
    ...completions,
    platform: 'messages',
    path: () => '/v1/messages',
    image: (url) => `{"type":"image","source":{"type":"url","url":${url}}}`,
    tool: (name, schema) => `{"name":"${name}","input_schema":${schema}}`,
    more: '"max_tokens":10,',
  },
  'generate-content': {
    platform: 'native',
    path: (model) => `/v1beta/models/${model}:generateContent`,
    conversation: 'contents',
    message: (content) =>
      `{"role":"user","parts":${content.startsWith('[') ? content : `[{"text":${content}}]`}}`,
    content: (parts) => `[${parts}]`,
    part: (text) => `{"text":${text}}`,
    image: (url) => `{"fileData":{"mimeType":"image/png","fileUri":${url}}}`,
    tools: (each) => `[{"functionDeclarations":[${each.join()}]}]`,
    tool: (name, schema) => `{"name":"${name}","parameters":${schema}}`,
    more: '',
  },
  images: {
    ...completions,
    path: () => '/v1/images/generations',
    conversation: 'images',
    more: '"prompt":"x",',
  },
};

export interface HostileRequest {
  readonly path: string;
  readonly platform: Words['platform'];
  readonly body: Uint8Array;
  readonly headers: readonly string[];
}

type Write = (words: Words, scale: number) => string;

const times = (count: number, each: (n: number) => string): readonly string[] =>
  Array.from({ length: count }, (_, n) => each(n));
const many = (count: number, text: string): string => `${`${text},`.repeat(count - 1)}${text}`;
const text = (content: string): string => JSON.stringify(content);

/** Only a conversation. */
const saying = (w: Words, messages: string): string => `"${w.conversation}":[${messages}]`;
const asked = (w: Words): string => saying(w, w.message(text('hello')));
const properties = (count: number): string => times(count, (n) => `"p${n}":{"type":"string"}`).join();
const nested = (levels: number, open: string, close: string): string =>
  open.repeat(levels) + close.repeat(levels);
const deepSchema = (levels: number): string =>
  `${'{"type":"object","properties":{"a":'.repeat(levels)}{"type":"string"}${'}}'.repeat(levels)}`;

/** Bodies that are dear to read, by what they have too much of. `scale` is 1 in full. Members after the model. */
export const hostileBodies: Readonly<Record<string, Write>> = {
  'small messages': (w, s) => saying(w, many(1_000_000 * s, w.message('"a"'))),
  'messages that are empty objects': (w, s) => saying(w, many(5_000_000 * s, '{}')),
  'messages that are numbers': (w, s) => saying(w, many(8_000_000 * s, '1')),
  'small parts in one message': (w, s) => saying(w, w.message(w.content(many(700_000 * s, w.part('"a"'))))),
  'texts in the place of parts': (w, s) => saying(w, w.message(w.content(many(5_000_000 * s, '"a"')))),
  'nested lists': (w, s) => saying(w, w.message(w.content(many(60_000 * s, nested(200, '[', ']'))))),
  'nested lists in the place of messages': (w, s) => saying(w, many(60_000 * s, nested(200, '[', ']'))),
  tools: (w, s) =>
    `${asked(w)},"tools":${w.tools(times(300_000 * s, (n) => w.tool(`t${n}`, '{"type":"object"}')))}`,
  'tools of one name': (w, s) =>
    `${asked(w)},"tools":${w.tools(times(15_000 * s, () => w.tool('a b', '{}')))}`,
  'a schema of many properties': (w, s) =>
    `${asked(w)},"tools":${w.tools([w.tool('t', `{"type":"object","properties":{${properties(700_000 * s)}}}`)])}`,
  'a deep schema, often': (w, s) =>
    `${asked(w)},"tools":${w.tools(times(2_000 * s, (n) => w.tool(`t${n}`, deepSchema(100))))}`,
  'a schema for the answer': (w, s) =>
    `${asked(w)},"response_format":{"type":"json_schema","json_schema":{"name":"a","strict":true,"schema":{"type":"object","properties":{${properties(700_000 * s)}}}}},"text":{"format":{"type":"json_schema","name":"a","strict":true,"schema":{"type":"object","properties":{${properties(200_000 * s)}}}}}`,
  'one long text': (w, s) => saying(w, w.message(`"${'x'.repeat(31_000_000 * s)}"`)),
  'one long text of line ends': (w, s) => saying(w, w.message(`"${'\\n'.repeat(15_000_000 * s)}"`)),
  'one long text of escaped quotes': (w, s) => saying(w, w.message(`"${'\\"'.repeat(15_000_000 * s)}"`)),
  'one long text of escaped letters': (w, s) => saying(w, w.message(`"${'\\u00e9'.repeat(5_000_000 * s)}"`)),
  'one long text in another script': (w, s) => saying(w, w.message(`"${'語'.repeat(10_000_000 * s)}"`)),
  'short texts of some words': (w, s) => saying(w, many(250_000 * s, w.message(`"${'word '.repeat(18)}"`))),
  'one picture': (w, s) =>
    saying(w, w.message(w.content(w.image(`"data:image/png;base64,${'iVBORw0K'.repeat(3_800_000 * s)}"`)))),
  'a picture of noise': (w, s) =>
    saying(
      w,
      w.message(
        w.content(w.image(`"data:image/png;base64,${randomBytes(22_500_000 * s).toString('base64')}"`)),
      ),
    ),
  'small pictures': (w, s) =>
    saying(w, w.message(w.content(many(300_000 * s, w.image('"data:image/png;base64,iVBORw0K"'))))),
  'pictures to be fetched': (w, s) =>
    saying(
      w,
      w.message(w.content(times(200_000 * s, (n) => w.image(`"https://a.example/${n}.png"`)).join())),
    ),
  'members that nobody knows': (w, s) => `${asked(w)},${times(1_500_000 * s, (n) => `"x${n}":1`).join()}`,
  'members whose names are escaped': (w, s) =>
    `${asked(w)},${times(500_000 * s, () => `"\\u0078":1`).join()}`,
  'white space': (w, s) => `${asked(w)},${' '.repeat(31_000_000 * s)}"user":"u"`,
  'white space in the conversation': (w, s) =>
    saying(w, `${w.message('"a"')},${' '.repeat(31_000_000 * s)}${w.message('"b"')}`),
  'a number of many digits': (w, s) => `${asked(w)},"seed":${'7'.repeat(31_000_000 * s)}`,
  'words to stop at': (w, s) =>
    `${asked(w)},"stop":[${many(5_000_000 * s, '"a"')}],"stop_sequences":[${many(1_000_000 * s, '"a"')}]`,
  metadata: (w, s) => `${asked(w)},"metadata":{${times(1_000_000 * s, (n) => `"k${n}":"v"`).join()}}`,
  'thought asked for in depth': (w, s) =>
    `${asked(w)},"thinking":{${times(1_000_000 * s, (n) => `"k${n}":1`).join()}},"reasoning":{${times(1_000_000 * s, (n) => `"k${n}":1`).join()}}`,
  instructions: (w, s) =>
    `"system":[${many(700_000 * s, '{"type":"text","text":"a"}')}],"instructions":"a",${asked(w)}`,
  'an unfinished list': (w, s) => `"${w.conversation}":[${many(8_000_000 * s, '[]')}`,
};

/** The request of a surface with such a body; compressed where that is what makes it small. */
export function hostileRequest(
  surface: BodySurface,
  name: string,
  model: string,
  scale: number,
  isCompressed: boolean,
): HostileRequest {
  const w = words[surface];
  const write = hostileBodies[name];
  if (write === undefined) throw new Error(`no hostile body is called ${name}`);
  const plain = Buffer.from(`{"model":"${model}",${w.more}${write(w, scale)}}`);
  const body = isCompressed ? gzipSync(plain) : plain;
  const headers = ['content-type: application/json', ...(isCompressed ? ['content-encoding: gzip'] : [])];
  return { path: w.path(model), platform: w.platform, body, headers };
}

/** Answers that are dear to read, in the protocol that the model's channel speaks: chat-completions passed through, or messages. */
export const hostileAnswers: Readonly<
  Record<string, { readonly model: string; write(scale: number): string }>
> = {
  'a million choices': {
    model: 'same',
    write: (scale) => `{"choices":[${many(5_000_000 * scale, '{}')}]}`,
  },
  'a million calls of tools': {
    model: 'same',
    write: (scale) =>
      `{"choices":[{"message":{"tool_calls":[${many(500_000 * scale, '{"function":{"name":"a","arguments":"{}"}}')}]}}]}`,
  },
  'nested lists in the place of an answer': {
    model: 'same',
    write: (scale) =>
      `{"choices":[{"message":{"content":[${many(60_000 * scale, nested(200, '[', ']'))}]}}]}`,
  },
  'members that nobody knows in an answer': {
    model: 'same',
    write: (scale) => `{${times(1_500_000 * scale, (n) => `"x${n}":1`).join()},"choices":[]}`,
  },
  'a usage of many members': {
    model: 'same',
    write: (scale) =>
      `{"choices":[{"message":{"content":"a"},"finish_reason":"stop"}],"usage":{${times(1_500_000 * scale, (n) => `"x${n}":1`).join()}}}`,
  },
  'a million blocks, translated': {
    model: 'to-messages',
    write: (scale) =>
      `{"type":"message","role":"assistant","stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1},"content":[${many(700_000 * scale, '{"type":"text","text":"a"}')}]}`,
  },
  'one long text in an answer': {
    model: 'same',
    write: (scale) =>
      `{"choices":[{"message":{"content":${text('line\n"of" text 語 '.repeat(3_000_000 * scale))}},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1}}`,
  },
  'one long text in an answer, translated': {
    model: 'to-messages',
    write: (scale) =>
      `{"type":"message","role":"assistant","stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1},"content":[{"type":"text","text":${text('line\n"of" text 語 '.repeat(3_000_000 * scale))}}]}`,
  },
  'arguments of a million members, translated': {
    model: 'to-messages',
    write: (scale) =>
      `{"type":"message","role":"assistant","stop_reason":"tool_use","usage":{"input_tokens":1,"output_tokens":1},"content":[{"type":"tool_use","id":"a","name":"a","input":{${times(700_000 * scale, (n) => `"x${n}":1`).join()}}}]}`,
  },
};

/** Pictures of forms that are dear to look through for the boundary. */
export const hostileForms: Readonly<Record<string, (length: number) => Buffer>> = {
  'a picture': (length) => randomFillSync(Buffer.alloc(length)),
  'line feeds': (length) => Buffer.alloc(length, '\n'),
  'half line ends': (length) => Buffer.alloc(length, '\r'),
  'short lines': (length) => Buffer.alloc(length, `${'a'.repeat(30)}\n`),
  'its own boundary, but for the end': (length) => Buffer.alloc(length, '\n--form-of-a-tes'),
  'the letters of its boundary': (length) => Buffer.alloc(length, 'tse-a-fo-mrof--\n'),
  dashes: (length) => Buffer.alloc(length, '\r\n--'),
};

/** A form that asks for a picture to be changed. */
export function formRequest(picture: Buffer, model: string): HostileRequest {
  const boundary = 'form-of-a-test';
  const field = (name: string) => `--${boundary}\r\ncontent-disposition: form-data; name="${name}"`;
  const before = `${field('model')}\r\n\r\n${model}\r\n${field('prompt')}\r\n\r\nx\r\n${field('image')}; filename="a.png"\r\n\r\n`;
  const body = Buffer.concat([Buffer.from(before), picture, Buffer.from(`\r\n--${boundary}--\r\n`)]);
  const headers = [`content-type: multipart/form-data; boundary=${boundary}`];
  return { path: '/v1/images/edits', platform: 'completions', body, headers };
}
