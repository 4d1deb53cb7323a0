import type { ProtocolId } from '../../inbound-request.ts';
import type { ToolNaming } from '../../translate/tool-names.ts';
import type { WriteNotes } from '../../translate/write-notes.ts';
import type { CacheBreakpoints } from './cache-control.ts';

/** What the parts of one request are written with. */
export interface WriteContext {
  /** The caller's protocol, in whose words losses are told. */
  readonly surface: ProtocolId;
  readonly naming: ToolNaming;
  readonly breakpoints: CacheBreakpoints;
  readonly notes: WriteNotes;
}
