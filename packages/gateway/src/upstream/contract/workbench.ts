import type { TlsOptions } from 'node:tls';
import { afterEach } from 'vitest';
import type { UpstreamClient } from '../../ports/upstream.ts';
import type { UpstreamClientOptions } from '../client.ts';
import { openScriptedUpstream, type Script, type ScriptedUpstream } from './scripted-upstream.ts';

export type OpenClient = (options?: UpstreamClientOptions) => UpstreamClient;

/** Opens clients and upstreams for one test, and closes them after it. */
export interface Workbench {
  client(options?: UpstreamClientOptions): UpstreamClient;
  upstream(script: Script, tls?: TlsOptions): Promise<ScriptedUpstream>;
}

export function setUpWorkbench(open: OpenClient): Workbench {
  const opened: { close(): Promise<void> }[] = [];
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((resource) => resource.close()));
  });
  const keep = <Resource extends { close(): Promise<void> }>(resource: Resource): Resource => {
    opened.push(resource);
    return resource;
  };
  return {
    client: (options) => keep(open(options)),
    upstream: async (script, tls) => keep(await openScriptedUpstream(script, tls)),
  };
}
