import {
  type Answer,
  argumentsOf,
  type Choice,
  type Finish,
  piecesOf,
  type SimulatedUsage,
  type Token,
  tokensInTurn,
} from '../answer/answer.ts';
import type { Tool } from '../answer/ask.ts';
import { idOf, type Rendering } from '../protocol.ts';
import { type Frame, frame } from '../timeline.ts';

/** The whole answer as one JSON object. */
export function answerBody(rendering: Rendering): string {
  const { answer, command } = rendering;
  return JSON.stringify({
    ...identityOf(rendering, 'chat.completion'),
    choices: answer.choices.map((choice, index) => encodeChoice(rendering, choice, index)),
    ...(command.usage === 'never' ? {} : { usage: encodeUsage(answer.usage) }),
  });
}

function encodeChoice(rendering: Rendering, choice: Choice, index: number) {
  return {
    index,
    message: encodeMessage(rendering, choice, index),
    logprobs: null,
    finish_reason: finishWord(rendering, choice),
  };
}

function encodeMessage(rendering: Rendering, choice: Choice, index: number) {
  const calls = encodeCalls(rendering, choice, index);
  const refusal = textOf(choice, 'refusal');
  const reasoning = textOf(choice, 'reasoning');
  const hasText = calls.length === 0 && refusal === null;
  return {
    role: 'assistant',
    content: hasText ? (textOf(choice, 'text') ?? '') : null,
    refusal,
    annotations: [],
    ...(reasoning === null ? {} : { reasoning_content: reasoning }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
}

function encodeCalls(rendering: Rendering, choice: Choice, index: number) {
  return choice.tokens
    .filter((token) => token.kind === 'call')
    .map(({ call, tool }) => ({
      id: callId(rendering, index, call),
      type: tool.kind,
      ...callPart(tool, argumentsOf(choice.tokens, call).join('')),
    }));
}

/** The text of all tokens of a kind; null when there are none. */
function textOf({ tokens }: Choice, kind: 'text' | 'reasoning' | 'refusal'): string | null {
  const pieces = piecesOf(tokens, kind);
  return pieces.length === 0 ? null : pieces.join('');
}

/** One chunk with a choice in it, and how many tokens have been shown once it is sent. */
interface Chunk {
  readonly role: 'preamble' | 'content' | 'finish';
  readonly choice: number;
  readonly delta: object;
  readonly finish: string | null;
  readonly shown: number;
}

/** The stream: a role frame per choice, a frame per token, a finish frame per choice, usage when due, the end. */
export function* answerFrames(rendering: Rendering): Generator<Frame, void, undefined> {
  const write = chunkWriter(rendering);
  for (const chunk of chunksOf(rendering)) yield frame(chunk.role, write(chunk));
  if (hasUsageFrame(rendering)) yield frame('usage', encodeUsageFrame(rendering));
  yield frame('terminal', 'data: [DONE]\n\n');
}

function* chunksOf(rendering: Rendering): Generator<Chunk, void, undefined> {
  const { answer } = rendering;
  for (const [choice, { tokens }] of answer.choices.entries()) {
    const delta = { role: 'assistant', content: tokens[0]?.kind === 'call' ? null : '', refusal: null };
    yield { role: 'preamble', choice, delta, finish: null, shown: 0 };
  }
  let shown = 0;
  for (const { choice, token } of tokensInTurn(answer)) {
    shown++;
    yield { role: 'content', choice, delta: encodeToken(rendering, choice, token), finish: null, shown };
  }
  for (const [index, choice] of answer.choices.entries()) {
    yield { role: 'finish', choice: index, delta: {}, finish: finishWord(rendering, choice), shown };
  }
}

function encodeToken(rendering: Rendering, choice: number, token: Token): object {
  switch (token.kind) {
    case 'text':
      return { content: token.text };
    case 'reasoning':
      return { reasoning_content: token.text };
    case 'refusal':
      return { refusal: token.text };
    case 'call': {
      const id = callId(rendering, choice, token.call);
      const call = { index: token.call, id, type: token.tool.kind, ...callPart(token.tool, '') };
      return { tool_calls: [call] };
    }
    case 'arguments': {
      const part =
        token.tool.kind === 'custom'
          ? { custom: { input: token.text } }
          : { function: { arguments: token.text } };
      return { tool_calls: [{ index: token.call, ...part }] };
    }
  }
}

/** Writes the members that never change once, because streams are where a simulator spends its time. */
function chunkWriter(rendering: Rendering): (chunk: Chunk) => string {
  const opening = `data: ${JSON.stringify(identityOf(rendering, 'chat.completion.chunk')).slice(0, -1)}`;
  const usageMember = usageMemberWriter(rendering);
  return (chunk) => {
    const { choice, delta, finish } = chunk;
    const choices = JSON.stringify([{ index: choice, delta, logprobs: null, finish_reason: finish }]);
    return `${opening},"choices":${choices}${usageMember(chunk)}}\n\n`;
  };
}

function usageMemberWriter({ ask, command, answer }: Rendering): (chunk: Chunk) => string {
  const total = countTokens(answer);
  const whole = (chunk: Chunk) =>
    `,"usage":${JSON.stringify(encodeUsage(usageAfter(answer, total, chunk.shown)))}`;
  switch (command.usage) {
    case 'every':
      return whole;
    case 'finish':
      return (chunk) => (chunk.role === 'finish' ? whole(chunk) : '');
    case 'content':
      return (chunk) => (chunk.role === 'content' && chunk.shown === total ? whole(chunk) : '');
    case 'asked':
      return () => (ask.wantsUsage ? ',"usage":null' : '');
    case 'unasked':
    case 'never':
      return () => '';
  }
}

function countTokens(answer: Answer): number {
  return answer.choices.reduce((sum, choice) => sum + choice.tokens.length, 0);
}

/** Usage when `shown` of all `total` tokens were out. Reasoning comes first, hidden or not. */
function usageAfter({ usage }: Answer, total: number, shown: number): SimulatedUsage {
  const completion = usage.completion - (total - shown);
  return { ...usage, completion, reasoning: Math.min(usage.reasoning, completion) };
}

function hasUsageFrame({ ask, command }: Rendering): boolean {
  return command.usage === 'unasked' || (command.usage === 'asked' && ask.wantsUsage);
}

function encodeUsageFrame(rendering: Rendering): string {
  const identity = identityOf(rendering, 'chat.completion.chunk');
  return `data: ${JSON.stringify({ ...identity, choices: [], usage: encodeUsage(rendering.answer.usage) })}\n\n`;
}

/** The usage object with every member the protocol has, zeros included. */
function encodeUsage(usage: SimulatedUsage) {
  return {
    prompt_tokens: usage.prompt,
    completion_tokens: usage.completion,
    total_tokens: usage.prompt + usage.completion,
    prompt_tokens_details: {
      cached_tokens: usage.cached,
      audio_tokens: 0,
      cache_write_tokens: usage.cacheWrite + usage.cacheWrite1h,
    },
    completion_tokens_details: {
      reasoning_tokens: usage.reasoning,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}

/** The members that are the same in every chunk of an answer. */
function identityOf({ ask, command, stamp }: Rendering, object: string) {
  return {
    id: idOf('chatcmpl-', stamp),
    object,
    created: stamp.createdS,
    model: command.served ?? ask.model,
    service_tier: 'default',
    system_fingerprint: 'fp_simulated',
  };
}

/** Unique in one simulator: its request, the choice and the call's number. */
function callId({ stamp }: Rendering, choice: number, call: number): string {
  return idOf('call_', stamp, choice, call);
}

const finishWords: Readonly<Record<Finish, string>> = {
  stop: 'stop',
  length: 'length',
  'tool-calls': 'tool_calls',
};

function finishWord({ command }: Rendering, choice: Choice): string | null {
  return command.finish === undefined ? finishWords[choice.finish] : command.finish;
}

/** A call's own part in the spelling of its kind of tool. */
function callPart(tool: Tool, text: string) {
  return tool.kind === 'custom'
    ? { custom: { name: tool.name, input: text } }
    : { function: { name: tool.name, arguments: text } };
}
