import {
  type Edit,
  type EncodedRequest,
  type Fault,
  fail,
  fault,
  type InboundRequest,
  type NamedMember,
  type ProtocolId,
  type Result,
  succeed,
} from '@headgate/protocols';
import {
  type Caller,
  type Model,
  mayCall,
  modelNotFound,
  type NameRights,
} from '../../catalogue/catalogue.ts';
import type { Wire } from '../../catalogue/wire.ts';

/** Encodes a request that names other models, for a target that speaks its protocol; `edits` are made beside. */
export type EncodeNamed = (wire: Wire, edits: readonly Edit[]) => Result<EncodedRequest, Fault>;

/** A name in a body that the key may call, and the models it may mean. */
interface AllowedName {
  readonly member: NamedMember;
  readonly models: readonly Model[];
}

/**
 * Looks through the body of a key that is bound to a list of models for other names of models than that of the call
 * (`catalogue/member-rights.json`). Those it may call are written anew for each target, null where there are none; the first
 * other one is the fault.
 */
export function readNames(
  request: InboundRequest,
  caller: Caller,
  protocol: ProtocolId,
  rights: NameRights,
): Result<EncodeNamed | null, Fault> {
  const found = request.names === undefined ? [] : request.names(rights.searchOf(protocol));
  if (found === null) return fail(tooMany);
  const allowed: AllowedName[] = [];
  for (const member of found) {
    const models = rights.modelsNamed(member.name).filter(({ id }) => mayCall(caller, id));
    const refusal = refusalOf(member, models, request.facts.model);
    if (refusal !== null) return fail(refusal);
    if (member.rule === 'named') allowed.push({ member, models });
  }
  return succeed(allowed.length === 0 ? null : (wire, edits) => encodeNamed(request, wire, allowed, edits));
}

const tooMany = fault('invalid_request', {
  message:
    'The request body has too many members to look through for names of models, which a key with a list of models needs; send fewer.',
});

function refusalOf(
  { rule, name, field }: NamedMember,
  models: readonly Model[],
  called: string,
): Fault | null {
  switch (rule) {
    case 'unnamed':
      return fault('invalid_request', {
        message: `'${field}' has models asked that the request does not name, and this key is bound to a list of models: leave it out.`,
        param: field,
      });
    case 'own':
      return name === called || name === `models/${called}` ? null : modelNotFound(name, field);
    default:
      return models.length > 0 ? null : modelNotFound(name, field);
  }
}

/** The request with the names that this target's upstream has for the models in it; a fault where it has none for one of them. */
function encodeNamed(
  request: InboundRequest,
  { asked, target }: Wire,
  names: readonly AllowedName[],
  beside: readonly Edit[],
): Result<EncodedRequest, Fault> {
  const edits = [...beside];
  for (const { member, models } of names) {
    const there = models
      .flatMap((model) => model.targets)
      .filter(({ channel }) => channel.id === target.channel.id);
    const [first] = there;
    if (first === undefined) return fail(modelNotFound(member.name, member.field));
    const isItsOwn = there.some(({ upstreamModel }) => upstreamModel === member.name);
    // A tool that is left out anyway needs no name.
    const isLeftOut = beside.some(({ start, end }) => start <= member.start && member.end <= end);
    if (!isItsOwn && !isLeftOut) edits.push(rename(member, first.upstreamModel));
  }
  return succeed(request.passThrough({ ...asked, edits }));
}

const encoder = new TextEncoder();

function rename({ name, start, end }: NamedMember, upstreamModel: string): Edit {
  const written = name.startsWith('models/') ? `models/${upstreamModel}` : upstreamModel;
  return { name: 'named-model', start, end, insert: encoder.encode(JSON.stringify(written)) };
}
