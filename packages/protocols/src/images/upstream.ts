import { splice } from '../bytes/splice.ts';
import { type Fault, fault } from '../error.ts';
import type { EncodedRequest, PassthroughTarget } from '../inbound-request.ts';
import type { ReadRequest } from './facts.ts';
import type { ImageOperation } from './wire.ts';

/** Stands in a provider's path for what is to be done; a path without it only generates. */
const operationPlaceholder = '{operation}';

/** The caller's bytes for one target, a form as it came: changed only where its alias needs it. */
export function passThrough(
  request: ReadRequest,
  operation: ImageOperation,
  target: PassthroughTarget,
): EncodedRequest {
  const edits = request.modelEdits(target.upstreamModel);
  return {
    path: target.path.replace(operationPlaceholder, operation),
    contentType: request.contentType,
    headers: [],
    body: splice(request.body, edits),
    edits: edits.map((edit) => edit.name),
  };
}

/** Why a target cannot be asked for this; null when it can. */
export function refusePath(operation: ImageOperation, path: string): Fault | null {
  if (operation === 'generations' || path.includes(operationPlaceholder)) return null;
  return fault('invalid_request', { message: 'No channel of this model edits images.', param: 'model' });
}
