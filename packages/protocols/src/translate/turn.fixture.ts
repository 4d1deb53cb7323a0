import { messagesSurface } from '../messages/wire.ts';
import { noSettings, type Turn, type TurnSettings } from '../turn.ts';

export const traceId = '0123456789abcdef0123456789abcdef';

/** A request as the reader of another surface would have read it. */
export function turnOf(
  rest: Partial<Omit<Turn, 'settings'>> & { readonly settings?: Partial<TurnSettings> } = {},
): Turn {
  const { settings, ...given } = rest;
  return {
    surface: messagesSurface,
    model: 'public',
    stream: false,
    system: [],
    messages: [{ role: 'user', content: [text('hi')], name: null }],
    tools: [],
    toolChoice: null,
    settings: { ...noSettings, ...settings },
    spelling: {},
    extensions: [],
    ...given,
  };
}

export function text(words: string) {
  return { kind: 'text', text: words, citations: [], cacheTtl: null } as const;
}
