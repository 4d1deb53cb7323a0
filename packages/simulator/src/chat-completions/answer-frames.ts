import type { Answer, SimulatedUsage, Token } from '../answer/answer.ts';
import { tokensInTurn } from '../answer/answer.ts';
import type { Rendering } from '../protocol.ts';
import type { Frame } from '../timeline/frame.ts';
import { frame } from '../timeline/frame.ts';
import { callId, callPart, finishWord, identityOf } from './identity.ts';
import { encodeUsage } from './usage.ts';

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

/** What had been used when `shown` of all `total` tokens were out. Reasoning comes first, hidden or not. */
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
