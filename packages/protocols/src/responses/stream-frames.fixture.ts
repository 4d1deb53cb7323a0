/** An event as servers of this protocol frame it. Its number is the caller's business: most tests have none. */
export function event(type: string, members: object = {}): string {
  const whole = type === 'error' ? type : `response.${type}`;
  return `event: ${whole}\ndata: ${JSON.stringify({ type: whole, ...members })}\n\n`;
}

const opening = { id: 'resp_1', object: 'response', status: 'in_progress', model: 'served', error: null };

export const created = event('created', {
  response: { ...opening, output: [], usage: null, instructions: 'x', tools: [{ name: 'not output' }] },
});
export const inProgress = event('in_progress', { response: { ...opening, output: [] } });

export const open = (index: number, item: object) =>
  event('output_item.added', { output_index: index, item });
export const close = (index: number, item: object) =>
  event('output_item.done', { output_index: index, item });
export const message = (text: string | null) => ({
  id: 'msg_1',
  type: 'message',
  status: 'in_progress',
  role: 'assistant',
  content: text === null ? [] : [{ type: 'output_text', text, annotations: [], logprobs: [] }],
});
export const openText = open(0, message(null));
export const text = (delta: string, sequence = 1) =>
  event('output_text.delta', {
    sequence_number: sequence,
    item_id: 'msg_1',
    output_index: 0,
    delta,
    logprobs: [],
  });

export const wireUsage = {
  input_tokens: 100,
  input_tokens_details: { cached_tokens: 60, cache_write_tokens: 30 },
  output_tokens: 40,
  output_tokens_details: { reasoning_tokens: 15 },
  total_tokens: 140,
};
export const response = (members: object = {}) => ({
  ...opening,
  status: 'completed',
  incomplete_details: null,
  output: [message('whole')],
  usage: wireUsage,
  ...members,
});
export const completed = event('completed', { response: response() });
export const incomplete = (reason: string) =>
  event('incomplete', { response: response({ status: 'incomplete', incomplete_details: { reason } }) });
