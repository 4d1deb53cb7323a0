/** The protocols that a channel can speak, and their paths under the base URL, which ends in `/v1`. */
export const upstreamPaths = {
  messages: '/messages',
  responses: '/responses',
  'generate-content': '/models/{model}:{action}',
  'chat-completions': '/chat/completions',
} as const;

export type Upstream = keyof typeof upstreamPaths;

export const upstreams: readonly Upstream[] = [
  'messages',
  'responses',
  'generate-content',
  'chat-completions',
];
