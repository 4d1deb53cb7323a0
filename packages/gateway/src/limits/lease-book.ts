import type { OwnerLimits } from '../catalogue/limits.ts';
import type { LeaseName } from '../ports/leases.ts';
import { Lease } from './lease.ts';
import { type Limit, limitsOf } from './limit.ts';

const ownerBits = { account: 1, group: 2, key: 4 } as const;

/** The leases that calls of a caller take from. */
interface Binding {
  /** It holds as long as no lease was forgotten since. */
  readonly epoch: number;
  /** Owners whose money is limited, as entries name them. */
  readonly leased: number;
  readonly all: readonly Lease[];
  /** Its leases for calls of a model, for models that have limits of their own. */
  readonly byModel: ReadonlyMap<string, readonly Lease[]>;
  readonly others: readonly Lease[];
}

/** All leases of this process, and which of them a caller's calls take from. */
export class LeaseBook {
  readonly #leases = new Map<string, Lease>();
  /** A caller has the same list of owners as long as the catalogue stays. */
  readonly #bindings = new WeakMap<readonly OwnerLimits[], Binding>();
  readonly #limits = new WeakMap<OwnerLimits, readonly Limit[]>();
  readonly #onRetuned: (lease: Lease) => void;
  #epoch = 0;
  #numbers = 0;

  constructor(onRetuned: (lease: Lease) => void) {
    this.#onRetuned = onRetuned;
  }

  get size(): number {
    return this.#leases.size;
  }

  values(): Iterable<Lease> {
    return this.#leases.values();
  }

  find({ subject, measure }: LeaseName): Lease | undefined {
    return this.#leases.get(nameOf(subject, measure));
  }

  bindingOf(owners: readonly OwnerLimits[]): Binding {
    const known = this.#bindings.get(owners);
    return known?.epoch === this.#epoch ? known : this.#bind(owners);
  }

  leasesOf(owners: readonly OwnerLimits[], model: string): readonly Lease[] {
    const { byModel, others } = this.bindingOf(owners);
    return byModel.size === 0 ? others : (byModel.get(model) ?? others);
  }

  /** Forgets leases that nobody needs. */
  forget(leases: readonly Lease[]): void {
    if (leases.length === 0) return;
    for (const { limit } of leases) this.#leases.delete(nameOf(limit.subject, limit.measure));
    this.#epoch++;
  }

  #bind(owners: readonly OwnerLimits[]): Binding {
    const all = owners.flatMap((owner) => this.#limitsOf(owner)).map((limit) => this.#leaseOf(limit));
    const models = new Set(all.flatMap(({ limit }) => limit.model ?? []));
    const others = all.filter(({ limit }) => limit.model === null);
    const byModel = new Map(
      [...models].map((model) => [
        model,
        all.filter(({ limit }) => limit.model === null || limit.model === model),
      ]),
    );
    const leased = all.reduce(
      (bits, { limit }) => bits | (limit.rate === null ? ownerBits[limit.of.owner] : 0),
      0,
    );
    const binding = { epoch: this.#epoch, leased, all, byModel, others };
    this.#bindings.set(owners, binding);
    return binding;
  }

  #limitsOf(owner: OwnerLimits): readonly Limit[] {
    const known = this.#limits.get(owner) ?? limitsOf(owner, ++this.#numbers);
    this.#limits.set(owner, known);
    return known;
  }

  #leaseOf(limit: Limit): Lease {
    const name = nameOf(limit.subject, limit.measure);
    const known = this.#leases.get(name);
    if (known === undefined) {
      const lease = new Lease(limit);
      this.#leases.set(name, lease);
      return lease;
    }
    // Calls that began with an older catalogue may still come.
    if (limit.number <= known.limit.number) return known;
    // Another catalogue has other objects for what is the same.
    if (known.limit.fingerprint === limit.fingerprint) known.limit = limit;
    else {
      known.retune(limit);
      this.#onRetuned(known);
    }
    return known;
  }
}

function nameOf(subject: string, measure: string): string {
  return `${measure}\n${subject}`;
}
