import { readFileSync, statSync } from 'node:fs';

/** Notices changes of one file, however it is written: in place, renamed over, or through a link that moves. */
export interface FileWatch {
  /**
   * Looks at the file. Returns its text when it differs from what was last seen and has stopped changing since the
   * look before, so that a file half written is not read; else null. A file that is gone is waited for.
   */
  poll(): string | null;
}

/** Watches a file whose content is known already. Looking beats listening: change events miss renames and network mounts. */
export function watchFile(path: string, knownText: string): FileWatch {
  // Nothing counts as seen yet: the file may have changed since its text was read.
  let seen: string | null = null;
  let settled = true;
  let text = knownText;
  return {
    poll: () => {
      const now = fingerprint(path);
      if (now !== seen) {
        seen = now;
        settled = false;
        return null;
      }
      if (settled || now === null) return null;
      settled = true;
      const changed = readFileSync(path, 'utf8');
      if (changed === text) return null;
      text = changed;
      return changed;
    },
  };
}

function fingerprint(path: string): string | null {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat === undefined ? null : `${stat.ino} ${stat.size} ${stat.mtimeMs} ${stat.ctimeMs}`;
}
