/** One of the servers that are compared, running. */
export interface ServerUnderTest {
  readonly name: ServerName;
  readonly port: number;
  /** Sent as a bearer token. */
  readonly key: string;
  /** Process to account for, with its children; null for the upstream itself, which is no server under test. */
  readonly pid: number | null;
  stop(): Promise<void>;
}

/** `direct` is the upstream without anything in between: what latencies are compared with. */
export type ServerName = 'direct' | 'nginx' | 'bare-proxy' | 'headgate' | 'headgate-soon';
