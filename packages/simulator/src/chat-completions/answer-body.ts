import type { Choice, Token } from '../answer/answer.ts';
import type { Rendering } from '../protocol.ts';
import { callId, callPart, finishWord, identityOf } from './identity.ts';
import { encodeUsage } from './usage.ts';

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
      ...callPart(tool, argumentsOf(choice, call)),
    }));
}

function argumentsOf(choice: Choice, call: number): string {
  return choice.tokens
    .filter((token) => token.kind === 'arguments')
    .map((token) => (token.call === call ? token.text : ''))
    .join('');
}

/** The text of all tokens of a kind; null when there are none. */
function textOf(choice: Choice, kind: Extract<Token, { text: string }>['kind']): string | null {
  const pieces = choice.tokens.flatMap((token) => (token.kind === kind ? [token.text] : []));
  return pieces.length === 0 ? null : pieces.join('');
}
