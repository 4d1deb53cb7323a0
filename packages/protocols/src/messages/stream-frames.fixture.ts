/** An event as servers of this protocol frame it. */
export function event(type: string, members: object = {}): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`;
}

export const start = event('message_start', {
  message: {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'served',
    content: [],
    stop_reason: null,
    usage: {
      input_tokens: 7,
      cache_read_input_tokens: 20,
      cache_creation_input_tokens: 30,
      cache_creation: { ephemeral_5m_input_tokens: 10, ephemeral_1h_input_tokens: 20 },
      output_tokens: 1,
    },
  },
});

export const open = (index: number, block: object) =>
  event('content_block_start', { index, content_block: block });
export const delta = (index: number, part: object) => event('content_block_delta', { index, delta: part });
export const text = (words: string) => delta(0, { type: 'text_delta', text: words });
export const close = (index: number) => event('content_block_stop', { index });
export const finish = (reason: string | null, usage?: object) =>
  event('message_delta', { delta: { stop_reason: reason, stop_sequence: null }, usage });
export const stop = event('message_stop');
export const ping = event('ping');
export const openText = open(0, { type: 'text', text: '' });
