import { readRetryDelayMs } from '@headgate/protocols';
import type { Wire } from '../../catalogue/wire.ts';
import type { UpstreamHead } from '../../ports/upstream.ts';
import type { Outcome } from '../../route/outcomes.ts';
import { retryAfterMs } from '../../route/retry-after.ts';
import type { Errand } from '../request.ts';
import { WholeRelay } from '../whole-relay.ts';

/** An error page may be long; this much of it tells all there is to know. */
const refusalBytesMax = 64 * 1024;

/** An answer with an error status. Nothing of it reaches the caller as it is. */
export class RefusalRelay extends WholeRelay {
  readonly #wire: Wire;
  readonly #status: number;
  readonly #retryAfterMs: number | null;

  constructor(errand: Errand, wire: Wire, head: UpstreamHead) {
    super(errand, wire, [], 0);
    this.#wire = wire;
    this.#status = head.status;
    this.#retryAfterMs = retryAfterMs(head, errand.gateway.clock.now());
  }

  override read(chunk: Uint8Array): Outcome | null {
    return this.gather(chunk) >= refusalBytesMax ? this.end() : null;
  }

  override end(): Outcome {
    const refusal = this.#wire.protocol.readRefusal(this.#status, this.body);
    return { kind: 'refused', refusal, retryAfterMs: this.#retryAfterMs ?? readRetryDelayMs(this.body) };
  }
}
