import { argumentsOf, type Choice, type Finish, type Token } from '../answer/answer.ts';
import { parseJson } from '../json.ts';
import { idOf, padded, type Rendering } from '../protocol.ts';
import { type Frame, frame } from '../timeline.ts';
import { type Modality, modalityOf, partTokens, promptParts } from './read-ask.ts';

/** The whole answer as one JSON object. */
export function answerBody(rendering: Rendering): string {
  if (isBlocked(rendering)) return JSON.stringify(blockedAnswer(rendering));
  const candidates = rendering.answer.choices.map((choice, index) => ({
    content: { parts: wholeParts(rendering, choice, index), role: 'model' },
    finishReason: finishWord(rendering, choice),
    ...indexMember(index),
  }));
  return JSON.stringify({ candidates, ...closing(rendering, producedInAll(rendering)) });
}

/** Stands in the place of candidates when the prompt itself is refused. */
function blockedAnswer(rendering: Rendering) {
  const promptFeedback = { blockReason: 'PROHIBITED_CONTENT' };
  return { promptFeedback, ...closing(rendering, producedInAll(rendering)) };
}

/** Follows the candidates: usage so far, unless the command says never, and the answer's identity. */
function closing(rendering: Rendering, produced: Produced) {
  const isSilent = rendering.command.usage === 'never';
  return {
    ...(isSilent ? {} : { usageMetadata: encodeUsage(rendering, produced) }),
    ...identityOf(rendering),
  };
}

/** The first candidate's number is a default, and those are left out. */
function indexMember(index: number) {
  return index === 0 ? {} : { index };
}

/** An answer without a word has no parts at all. */
function wholeParts(rendering: Rendering, choice: Choice, index: number): readonly object[] | undefined {
  const parts = joined(piecesOf(choice));
  if (parts.length === 0) return undefined;
  const last = parts.length - 1;
  return parts.map((part, at) => {
    const encoded = encodePiece(rendering, index, part);
    const isSigned = at === last && part.kind === 'text';
    return isSigned ? { ...encoded, thoughtSignature: signatureOf(rendering) } : encoded;
  });
}

/** Events with CR LF, and no frame behind the last chunk: its finish reason is the end. */
export function* eventFrames(rendering: Rendering): Generator<Frame, void, undefined> {
  for (const { isLast, chunk } of chunksOf(rendering)) {
    yield frame(isLast ? 'terminal' : 'content', `data: ${JSON.stringify(chunk)}\r\n\r\n`);
  }
}

/** The same chunks as the elements of one array, each on lines of its own; the bracket that closes it is the end. */
export function* arrayFrames(rendering: Rendering): Generator<Frame, void, undefined> {
  yield frame('preamble', '[');
  let separator = '';
  for (const { isLast, chunk } of chunksOf(rendering)) {
    yield frame(isLast ? 'finish' : 'content', `${separator}${JSON.stringify(chunk, null, 2)}\n`);
    separator = ',\r\n';
  }
  yield frame('terminal', ']');
}

interface Chunk {
  readonly isLast: boolean;
  readonly chunk: object;
}

/** A chunk for each piece of each choice, one choice after the other, and one in which all of them finish. */
function* chunksOf(rendering: Rendering): Generator<Chunk, void, undefined> {
  if (isBlocked(rendering)) {
    yield { isLast: true, chunk: blockedAnswer(rendering) };
    return;
  }
  let produced = producedUnseen(rendering);
  for (const [choice, { tokens, finish }] of rendering.answer.choices.entries()) {
    for (const piece of piecesOf({ tokens, finish })) {
      produced = withTokens(produced, piece.kind === 'thought' ? 'thoughts' : 'candidates', piece.tokens);
      const content = { parts: [encodePiece(rendering, choice, piece)], role: 'model' };
      const candidates = [{ content, ...indexMember(choice) }];
      yield { isLast: false, chunk: { candidates, ...chunkClosing(rendering, produced) } };
    }
  }
  yield { isLast: true, chunk: lastChunk(rendering) };
}

/** Thinking that is not shown is over before the first chunk. */
function producedUnseen({ answer }: Rendering): Produced {
  const shown = answer.choices.flatMap(({ tokens }) => tokens.filter(({ kind }) => kind === 'reasoning'));
  return { candidates: 0, thoughts: answer.usage.reasoning - shown.length };
}

function withTokens(produced: Produced, part: keyof Produced, tokens: number): Produced {
  return { ...produced, [part]: produced[part] + tokens };
}

function chunkClosing(rendering: Rendering, produced: Produced) {
  return rendering.command.usage === 'finish' ? identityOf(rendering) : closing(rendering, produced);
}

/** An empty text that carries the signature, where there is one that no call has. */
function lastChunk(rendering: Rendering): object {
  const candidates = rendering.answer.choices.map((choice, index) => {
    const hasCall = choice.tokens.some(({ kind }) => kind === 'call');
    const thoughtSignature = hasCall ? undefined : signatureOf(rendering);
    return {
      content: { parts: [{ text: '', thoughtSignature }], role: 'model' },
      finishReason: finishWord(rendering, choice),
      ...indexMember(index),
    };
  });
  return { candidates, ...closing(rendering, producedInAll(rendering)) };
}

type Called = Extract<Token, { readonly kind: 'call' }>;

/** The content of one chunk of a stream: a word, or a call as a whole. */
export type Piece =
  | { readonly kind: 'thought' | 'text'; readonly text: string; readonly tokens: number }
  | { readonly kind: 'call'; readonly token: Called; readonly input: string; readonly tokens: number };

function piecesOf({ tokens }: Choice): readonly Piece[] {
  return tokens.flatMap((token) => pieceOf(token, tokens) ?? []);
}

/** Null for arguments, which their call brings with it. */
function pieceOf(token: Token, tokens: readonly Token[]): Piece | null {
  switch (token.kind) {
    case 'reasoning':
      return { kind: 'thought', text: token.text, tokens: 1 };
    case 'text':
    case 'refusal':
      return { kind: 'text', text: token.text, tokens: 1 };
    case 'call':
      return callPiece(token, argumentsOf(tokens, token.call));
    case 'arguments':
      return null;
  }
}

function callPiece(token: Called, input: readonly string[]): Piece {
  return { kind: 'call', token, input: input.join(''), tokens: 1 + input.length };
}

/** Neighbours of the same kind in one piece: the parts of a whole answer. */
function joined(pieces: readonly Piece[]): readonly Piece[] {
  const parts: Piece[] = [];
  for (const piece of pieces) {
    const last = parts.at(-1);
    if (last === undefined || last.kind === 'call' || piece.kind !== last.kind) parts.push(piece);
    else parts[parts.length - 1] = { ...last, text: last.text + piece.text };
  }
  return parts;
}

/** The thought behind an answer is signed on the first of its calls. */
function encodePiece(rendering: Rendering, choice: number, piece: Piece): object {
  switch (piece.kind) {
    case 'thought':
      return { text: piece.text, thought: true };
    case 'text':
      return { text: piece.text };
    case 'call': {
      const { call, tool } = piece.token;
      const functionCall = {
        id: callId(rendering, choice, call),
        name: tool.name,
        args: argsOf(piece.input),
      };
      const thoughtSignature = call === 0 ? signatureOf(rendering) : undefined;
      return { functionCall, thoughtSignature };
    }
  }
}

/** Arguments that the limit has cut off are no JSON any more; the call then has none. */
function argsOf(input: string): unknown {
  return parseJson(input) ?? {};
}

/** Tokens produced up to a chunk. */
export interface Produced {
  /** Without the thoughts. */
  readonly candidates: number;
  readonly thoughts: number;
}

function producedInAll({ answer }: Rendering): Produced {
  const { completion, reasoning } = answer.usage;
  return { candidates: completion - reasoning, thoughts: reasoning };
}

/** Counts of zero are left out, as the protocol does. The prompt includes what the cache read; candidates exclude thoughts. */
function encodeUsage(rendering: Rendering, { candidates, thoughts }: Produced) {
  const { prompt, cached } = rendering.answer.usage;
  return {
    promptTokenCount: prompt,
    ...positive('candidatesTokenCount', candidates),
    totalTokenCount: prompt + candidates + thoughts,
    ...positive('cachedContentTokenCount', cached),
    promptTokensDetails: promptDetails(rendering),
    ...(cached > 0 ? { cacheTokensDetails: [detail('TEXT', cached)] } : {}),
    ...(candidates > 0 ? { candidatesTokensDetails: [detail('TEXT', candidates)] } : {}),
    ...positive('thoughtsTokenCount', thoughts),
  };
}

/** The prompt's tokens by kind. They add up to the prompt, a stated one included: text has what media leave of it. */
export function promptDetails({ answer, body }: Rendering) {
  const counts = new Map<Modality, number>();
  let left = answer.usage.prompt;
  for (const part of promptParts(body)) {
    const modality = modalityOf(part);
    if (modality === 'TEXT') continue;
    const tokens = Math.min(partTokens(part), left);
    counts.set(modality, (counts.get(modality) ?? 0) + tokens);
    left -= tokens;
  }
  const media = [...counts].map(([modality, tokens]) => detail(modality, tokens));
  return left > 0 ? [detail('TEXT', left), ...media] : media;
}

function detail(modality: Modality, tokenCount: number) {
  return { modality, tokenCount };
}

function positive(name: string, count: number) {
  return count > 0 ? { [name]: count } : {};
}

/** The members that end every answer and every chunk of one. */
function identityOf({ ask, command, stamp }: Rendering) {
  return { modelVersion: command.served ?? ask.model, responseId: idOf('', stamp) };
}

/** Unique in one simulator: its request, the choice and the call's number. */
function callId({ stamp }: Rendering, choice: number, call: number): string {
  return idOf('call_', stamp, choice, call);
}

/** Opaque to everyone but the simulator, and base64 as the protocol has it. Undefined where nothing was thought. */
function signatureOf({ answer, stamp }: Rendering): string | undefined {
  return answer.usage.reasoning > 0 ? `c2ltdWxhdGVk${padded(stamp)}+/==` : undefined;
}

const finishWords: Readonly<Record<Finish, string>> = {
  stop: 'STOP',
  length: 'MAX_TOKENS',
  // Calls are an ordinary stop here.
  'tool-calls': 'STOP',
};

/** Undefined leaves the member out, as the protocol does with what is not set. */
function finishWord({ command }: Rendering, { tokens, finish }: Choice): string | undefined {
  if (command.finish !== undefined) return command.finish ?? undefined;
  const isRefused = finish !== 'length' && tokens.some((token) => token.kind === 'refusal');
  return isRefused ? 'SAFETY' : finishWords[finish];
}

/** A blocked prompt is not answered at all: there is no candidate. */
function isBlocked({ answer, command }: Rendering): boolean {
  return command.refusal && answer.choices.every((choice) => choice.tokens.length === 0);
}
