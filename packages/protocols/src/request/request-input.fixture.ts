import { defaultDialect, type PassthroughTarget, type RequestInput } from '../request.ts';

/** A request whose body is this text (or these bytes); what is not given is empty. */
export function requestInput(
  body: string | Uint8Array,
  rest: Partial<Omit<RequestInput, 'body'>> & { readonly headers?: Readonly<Record<string, string>> } = {},
): RequestInput {
  const { headers = {}, ...given } = rest;
  return {
    body: typeof body === 'string' ? new TextEncoder().encode(body) : body,
    header: (name) => headers[name],
    work: 'answer',
    path: '',
    params: {},
    search: '',
    ...given,
  };
}

/** A target that needs nothing changed but what is given. */
export function passthroughTarget(
  upstreamModel: string,
  rest: Partial<Omit<PassthroughTarget, 'upstreamModel'>> = {},
): PassthroughTarget {
  return { upstreamModel, path: '/path', dialect: defaultDialect, origin: 'here', reasoning: false, ...rest };
}
