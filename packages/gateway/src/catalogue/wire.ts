import {
  type Protocol,
  type ProtocolId,
  protocolIds,
  type ReasoningHabit,
  type ThoughtAsked,
  type TranslationTarget,
  upstreamProtocolsOf,
} from '@headgate/protocols';
import type { Upstream, UpstreamLine } from '../ports/upstream.ts';
import { type Credential, originOf, type Target } from './catalogue.ts';
import { type ModelFacts, mayReason, takesReasoning } from './model-facts.ts';

/** A target has a line for each credential and kind of answer, and for each path where the path depends on the call. */
const linesMax = 32;

interface KnownLine {
  readonly credential: Credential | null;
  readonly path: string;
  readonly contentType: string;
  readonly accept: string;
  readonly line: UpstreamLine;
}

/** How one target is spoken to on behalf of one surface: all that configuration alone decides, worked out once. */
export class Wire {
  readonly target: Target;
  /** The upstream's. */
  readonly protocol: Protocol;
  readonly isTranslated: boolean;
  /** Tells if time must be allowed for thought, by what the caller asks for. */
  readonly thinks: Readonly<Record<ThoughtAsked | 'silent', boolean>>;
  /** Tells if it is known to think then: it may do so unseen. */
  readonly reasons: Readonly<Record<ThoughtAsked | 'silent', boolean>>;
  /** For passing through and for translation. */
  readonly asked: TranslationTarget;
  /** This one, and behind it the others of the same target and surface: several where it speaks several protocols, none the caller's. */
  readonly ways: readonly Wire[];
  readonly #upstream: Upstream;
  readonly #lines: KnownLine[] = [];

  constructor(target: Target, protocol: Protocol, path: string, use: WireUse) {
    const { surface, upstream, others } = use;
    const { channel, upstreamModel, facts, contextWindow } = target;
    const { dialect } = channel.provider;
    this.target = target;
    this.protocol = protocol;
    this.isTranslated = protocol.id !== surface;
    const { maxOutputTokens } = facts;
    const origin = originIn(target, protocol.id);
    const known = { maxOutputTokens, contextWindow, reasoning: habitOf(facts), model: facts };
    this.asked = { upstreamModel, path, dialect, origin, ...known };
    this.ways = [this, ...others];
    const isQuiet = facts.reasoning.mode === 'none' || this.#canBeSwitchedOff();
    this.thinks = { some: true, none: !isQuiet, silent: mayReason(facts) };
    const isThinker = takesReasoning(facts);
    this.reasons = {
      some: true,
      none: isThinker && !isQuiet,
      silent: isThinker && known.reasoning !== 'asked',
    };
    this.#upstream = upstream;
  }

  #canBeSwitchedOff(): boolean {
    const { mode, efforts } = this.target.facts.reasoning;
    const words = this.protocol.codec?.thoughtWords(this.asked);
    const isSaid =
      words?.isSwitched === true ||
      words?.isOffByNone === true ||
      (efforts ?? words?.efforts ?? []).includes('none');
    return mode === 'optional' && isSaid;
  }

  /** The line for requests like this one; its head is written when it is first needed. */
  line(credential: Credential | null, path: string, contentType: string, accept: string): UpstreamLine {
    for (const known of this.#lines) {
      if (known.credential !== credential || known.accept !== accept || known.path !== path) continue;
      if (known.contentType === contentType) return known.line;
    }
    const sent = {
      'content-type': contentType,
      accept,
      'accept-encoding': 'identity',
      'user-agent': ownName,
    };
    const headers = Object.entries(sent).flat();
    const { channel } = this.target;
    const line = this.#upstream.line({ channel, credential, method: 'POST', path, headers });
    if (this.#lines.length === linesMax) this.#lines.shift();
    this.#lines.push({ credential, path, contentType, accept, line });
    return line;
  }
}

function habitOf(facts: ModelFacts): ReasoningHabit {
  const { mode, defaultEffort } = facts.reasoning;
  if (mode === 'always') return 'always';
  return mode === 'optional' && defaultEffort === 'none' ? 'asked' : takesReasoning(facts);
}

/**
 * The word for state that the target has sealed in this protocol: what is sealed in one is of no use in another. The protocol
 * that a target is asked in first has the word of the target itself.
 */
function originIn({ channel, upstreamModel, origin }: Target, protocol: ProtocolId): string {
  const [first] = protocolIds.filter((id) => channel.provider.protocols[id] !== undefined);
  return protocol === first ? origin : originOf(channel.id, `${upstreamModel}\n${protocol}`);
}

interface WireUse {
  readonly surface: ProtocolId;
  readonly upstream: Upstream;
  readonly others: readonly Wire[];
}

/** Some providers refuse who gives no name. A channel may give another (`headers`). */
const ownName = 'headgate';

/** The wires in use. A target is an immutable value of the catalogue: a changed one is another, and the old one's go with it. */
export class Wires {
  readonly #protocols: Readonly<Partial<Record<ProtocolId, Protocol>>>;
  readonly #upstream: Upstream;
  readonly #bySurface = new Map<ProtocolId, WeakMap<Target, Wire>>();

  constructor(protocols: Readonly<Partial<Record<ProtocolId, Protocol>>>, upstream: Upstream) {
    this.#protocols = protocols;
    this.#upstream = upstream;
  }

  /** Throws where the channel cannot serve the surface: such a target is never planned. */
  of(target: Target, surface: ProtocolId): Wire {
    const known = this.#bySurface.get(surface)?.get(target);
    if (known !== undefined) return known;
    const wire = this.#compile(target, surface);
    const wires = this.#bySurface.get(surface) ?? new WeakMap<Target, Wire>();
    this.#bySurface.set(surface, wires.set(target, wire));
    return wire;
  }

  #compile(target: Target, surface: ProtocolId): Wire {
    const spoken = target.channel.provider.protocols;
    const wires: Wire[] = [];
    // The first one knows all the others, so it is made last.
    for (const id of upstreamProtocolsOf(surface, spoken).toReversed()) {
      const protocol = this.#protocols[id];
      const path = spoken[id];
      if (protocol === undefined || path === undefined) continue;
      wires.unshift(
        new Wire(target, protocol, path, { surface, upstream: this.#upstream, others: [...wires] }),
      );
    }
    const [first] = wires;
    if (first !== undefined) return first;
    throw new Error(`channel ${target.channel.id} was planned for ${surface}, which it cannot serve`);
  }
}
