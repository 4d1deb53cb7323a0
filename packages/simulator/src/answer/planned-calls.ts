import type { Command } from '../command/command.ts';
import type { ScriptedCall } from '../command/steps.ts';
import type { Ask, Tool } from './ask.ts';
import { nextStep } from './next-step.ts';
import { sampleOf } from './sample.ts';

/** A call an answer makes, and all that it sends to the tool. */
export interface PlannedCall {
  readonly tool: Tool;
  readonly input: string;
}

/** The calls of this answer, in order; none when it speaks. */
export function plannedCalls(ask: Ask, command: Command): readonly PlannedCall[] {
  if (command.refusal) return [];
  if (command.steps === null) return sampleCalls(ask, command);
  const step = nextStep(command.steps, ask);
  return step?.kind === 'call' ? step.calls.flatMap((call) => offeredCall(ask, call)) : [];
}

/** Nothing where the tool is not offered: agents ask for a title or a summary in between, without tools. */
function offeredCall({ tools }: Ask, { tool: name, input }: ScriptedCall): readonly PlannedCall[] {
  const tool = tools.find((offered) => offered.name === name);
  return tool === undefined ? [] : [{ tool, input }];
}

function sampleCalls(ask: Ask, command: Command): readonly PlannedCall[] {
  const offered = offeredTools(ask);
  if (offered.length === 0) return [];
  const wanted = command.calls ?? 1;
  const count = ask.parallelCalls ? wanted : Math.min(wanted, 1);
  return Array.from({ length: count }, (_, index) => offered[index % offered.length])
    .filter((tool) => tool !== undefined)
    .map((tool) => ({ tool, input: sampleInput(tool) }));
}

function sampleInput(tool: Tool): string {
  return tool.kind === 'custom' ? 'simulated input' : JSON.stringify(sampleOf(tool.schema));
}

function offeredTools(ask: Ask): readonly Tool[] {
  const choice = ask.toolChoice;
  switch (choice.kind) {
    case 'none':
      return [];
    case 'auto':
      return ask.answersTool ? [] : ask.tools;
    case 'required':
      return ask.tools;
    case 'named':
      return ask.tools.filter((tool) => tool.name === choice.name);
  }
}
