import { pngBase64 } from './probe.ts';

/** Items that stand for what the vendor's own tools did. */
export const hostedItems: readonly object[] = [
  { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'canary' } },
  { type: 'file_search_call', id: 'fs_1', status: 'completed', queries: ['canary'] },
  { type: 'code_interpreter_call', id: 'ci_1', status: 'completed', code: 'canary', container_id: 'c' },
  { type: 'mcp_list_tools', id: 'mcpl_1', server_label: 's', tools: [] },
  { type: 'mcp_call', id: 'mcp_1', server_label: 's', name: 'f', arguments: '{}', output: 'canary' },
  { type: 'mcp_approval_request', id: 'mcpr_1', server_label: 's', name: 'f', arguments: '{}' },
  { type: 'compaction', id: 'cmp_1', encrypted_content: 'canary' },
];

/** Calls and results of tools whose words are the vendor's but whose work is the caller's. */
export const ownCalls: readonly (readonly [object, object])[] = [
  [
    {
      type: 'local_shell_call',
      call_id: 'c',
      id: 'lsh_1',
      status: 'completed',
      action: { type: 'exec', command: ['canary'] },
    },
    { type: 'local_shell_call_output', id: 'c', output: 'ok' },
  ],
  [
    { type: 'shell_call', call_id: 'c', action: { commands: ['canary'] } },
    { type: 'shell_call_output', call_id: 'c', output: [{ stdout: 'ok', stderr: '' }] },
  ],
  [
    {
      type: 'apply_patch_call',
      call_id: 'c',
      status: 'completed',
      operation: { type: 'update_file', path: 'canary' },
    },
    { type: 'apply_patch_call_output', call_id: 'c', status: 'completed', output: 'ok' },
  ],
  [
    {
      type: 'computer_call',
      call_id: 'c',
      id: 'cu_1',
      status: 'completed',
      action: { type: 'type', text: 'canary' },
    },
    {
      type: 'computer_call_output',
      call_id: 'c',
      output: { type: 'computer_screenshot', image_url: `data:image/png;base64,${pngBase64}` },
    },
  ],
  [
    { type: 'tool_search_call', call_id: 'c', arguments: { query: 'canary' } },
    { type: 'tool_search_output', call_id: 'c', tools: [] },
  ],
];

/** Tools that the vendor runs itself. */
export const hostedTools: readonly object[] = [
  { type: 'web_search' },
  { type: 'file_search', vector_store_ids: ['v'] },
  { type: 'code_interpreter', container: { type: 'auto' } },
  { type: 'image_generation' },
  { type: 'mcp', server_label: 's', server_url: 'https://example.org' },
  { type: 'computer' },
  { type: 'local_shell' },
  { type: 'shell' },
  { type: 'apply_patch' },
  { type: 'tool_search' },
  { type: 'programmatic_tool_calling' },
];

export function typeOf(item: object): string {
  return 'type' in item ? String(item.type) : '';
}
