import { type Fault, type UpstreamRefusal, unreachable } from '@headgate/protocols';
import type { Ask } from '../router.ts';
import { faultOf } from './fallback.ts';

type Words = Pick<UpstreamRefusal, 'status' | 'message' | 'type' | 'code' | 'param'>;

/**
 * What a caller is told who goes on from what another account was given: what upstreams say of an id that they do not know,
 * so that nobody learns from it whether there is such a one.
 */
export function unknownAnswer({ protocol, facts: { continues = '' } }: Ask): Fault {
  const refusal = { ...wordsOn(continues, protocol), kind: 'answer-missing' } as const;
  return faultOf([{ kind: 'refused', refusal, retryAfterMs: null }], null);
}

/** As the servers put it whose protocol it is. */
function wordsOn(id: string, protocol: Ask['protocol']): Words {
  switch (protocol) {
    case 'responses':
      return id.startsWith('conv_') ? unknownConversation(id) : unknownResponse(id);
    case 'generate-content':
      return {
        status: 403,
        message: 'CachedContent not found (or permission denied)',
        type: 'PERMISSION_DENIED',
        code: null,
        param: null,
      };
    case 'messages':
    // Nothing is kept by these two, so their servers have no words for it.
    case 'chat-completions':
    case 'images':
      return { status: 404, message: `Not found: ${id}`, type: 'not_found_error', code: null, param: null };
    default:
      return unreachable(protocol);
  }
}

function unknownResponse(id: string): Words {
  return {
    status: 400,
    message: `Previous response with id '${id}' not found.`,
    type: 'invalid_request_error',
    code: 'previous_response_not_found',
    param: 'previous_response_id',
  };
}

function unknownConversation(id: string): Words {
  return {
    status: 404,
    message: `Conversation with id '${id}' not found.`,
    type: 'invalid_request_error',
    code: null,
    param: null,
  };
}
