import type { Socket } from 'node:net';
import type { Fault } from '@headgate/protocols';
import type { BodyPlaces } from './body.ts';
import type { Activity, Exchange, PortParts } from './exchange.ts';
import type { Inlet } from './inlet.ts';
import type { Rounds } from './rounds.ts';

/** A connection of the plain lane, as the port sees it. */
export interface LaneConnection {
  readonly socket: Socket;
  /** Closes it when it carries nothing. */
  closeIfIdle(): void;
}

/** Everything that the connections of the plain lane share. */
export interface PlainLane extends PortParts {
  readonly bounds: {
    readonly headerBytesMax: number;
    readonly headersMs: number;
    readonly bodyMs: number;
    readonly idleMs: number;
  };
  readonly activity: Activity;
  readonly connections: Set<LaneConnection>;
  /** All its connections read into it. */
  readonly shared: Buffer;
  /** A place for bytes that are forgotten, so that none of them is copied. */
  readonly waste: Buffer;
  readonly places: BodyPlaces;
  readonly rounds: Rounds;
  /** The row in which connections wait between two reads of bytes that nobody wants. */
  readonly forgetting: Rounds;
  lastLines(staysOpen: boolean): string;
  answer(exchange: Exchange): void;
  /** Gives a connection to `node:http` for the rest of its life, with the bytes read so far, behind so many refusals in a row. */
  handOver(inlet: Inlet, bytes: Buffer, refusals: number): void;
  /** Says what is wrong where no request could be read, and closes. */
  refuse(socket: Socket, failure: Fault): void;
}
