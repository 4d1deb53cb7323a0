import type { UpstreamClient } from '../ports/upstream-client.ts';
import { type UpstreamClientOptions, withDefaults } from './client-options.ts';
import { Http1Pool } from './http1-pool.ts';
import { RoutedClient } from './routed-client.ts';

/** As much as one read from a socket brings at the most. */
const readBufferBytes = 65_536;

/** Our own HTTP/1.1 client: nothing between the socket and the handler that a relay does not need. */
export function openHttp1Client(options: UpstreamClientOptions = {}): UpstreamClient {
  const readBuffer = Buffer.allocUnsafeSlow(readBufferBytes);
  return new RoutedClient(
    withDefaults(options),
    ({ authority }, dialer, settings) => new Http1Pool(authority, dialer, settings, readBuffer),
  );
}
