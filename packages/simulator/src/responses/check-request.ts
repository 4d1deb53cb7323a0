import type { Conversations } from '../conversations.ts';
import type { JsonRecord } from '../json.ts';
import { listOf, recordOf, stringOf } from '../json.ts';
import type { Complaint } from '../protocol.ts';
import { complaintAboutItems } from './check-items.ts';
import { badRequest, nameComplaint } from './complaints.ts';

/** The first thing the vendor would refuse about a request; null when it would answer. */
export function complaintAbout(request: JsonRecord, earlier: Conversations): Complaint | null {
  return (
    movedMember(request) ??
    missingInput(request) ??
    unknownTurn(request, earlier) ??
    smallLimit(request) ??
    complaintAboutFormat(recordOf(recordOf(request['text'])['format'])) ??
    complaintAboutTools(listOf(request['tools']), 'tools') ??
    complaintAboutItems(request, earlier)
  );
}

/** Members of chat completions and where they went. */
const movedMembers: Readonly<Record<string, string>> = {
  messages: 'input',
  response_format: 'text.format',
  max_tokens: 'max_output_tokens',
  max_completion_tokens: 'max_output_tokens',
  reasoning_effort: 'reasoning.effort',
};

function movedMember(request: JsonRecord): Complaint | null {
  const name = Object.keys(movedMembers).find((member) => request[member] !== undefined);
  if (name === undefined) return null;
  const message = `Unsupported parameter: '${name}'. In the Responses API, this parameter has moved to '${movedMembers[name]}'.`;
  return badRequest('unsupported_parameter', name, message);
}

const contextMembers = ['input', 'previous_response_id', 'prompt', 'conversation'];

function missingInput(request: JsonRecord): Complaint | null {
  const isGiven = contextMembers.some((name) => (request[name] ?? null) !== null);
  return isGiven ? null : missing('input');
}

function unknownTurn(request: JsonRecord, earlier: Conversations): Complaint | null {
  const id = stringOf(request['previous_response_id']);
  if (id === null || earlier.turn(id) !== undefined) return null;
  const message = `Previous response with id '${id}' not found.`;
  return badRequest('previous_response_not_found', 'previous_response_id', message);
}

const limitMin = 16;

function smallLimit({ max_output_tokens: limit }: JsonRecord): Complaint | null {
  if (typeof limit !== 'number' || limit >= limitMin) return null;
  const message =
    `Invalid 'max_output_tokens': integer below minimum value. ` +
    `Expected a value >= ${limitMin}, but got ${limit} instead.`;
  return badRequest('integer_below_min_value', 'max_output_tokens', message);
}

function complaintAboutFormat(format: JsonRecord): Complaint | null {
  if (format['type'] !== 'json_schema') return null;
  const absent = ['name', 'schema'].find((name) => format[name] === undefined);
  return absent === undefined ? null : missing(`text.format.${absent}`);
}

function complaintAboutTools(tools: readonly unknown[], place: string): Complaint | null {
  for (const [index, value] of tools.entries()) {
    const complaint = complaintAboutTool(recordOf(value), `${place}[${index}]`);
    if (complaint !== null) return complaint;
  }
  return null;
}

function complaintAboutTool(tool: JsonRecord, place: string): Complaint | null {
  switch (tool['type']) {
    case 'function':
    case 'custom':
    case 'namespace':
      if (typeof tool['name'] !== 'string') return missing(`${place}.name`);
      return (
        nameComplaint(tool['name'], place) ?? complaintAboutTools(listOf(tool['tools']), `${place}.tools`)
      );
    case undefined:
      return missing(`${place}.type`);
    default:
      return null;
  }
}

function missing(name: string): Complaint {
  return badRequest('missing_required_parameter', name, `Missing required parameter: '${name}'.`);
}
