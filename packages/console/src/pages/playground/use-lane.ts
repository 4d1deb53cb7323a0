import { useCallback, useEffect, useRef, useState } from 'react';
import { chargeOf, type PlayCharge } from './charge.ts';
import { Gathered } from './gathered.ts';
import { callSurface, keyHeaders, type PlayEnd } from './stream.ts';
import type { PlayPiece, PlayRequest, PlayTurn, Surface } from './surfaces.ts';

/** One model's side of the playground: its conversation, the answer that comes, and what it was. */
export interface LaneState {
  readonly turns: readonly PlayTurn[];
  /** The last request, whole; null before there is one. */
  readonly asked: PlayRequest | null;
  readonly text: string;
  readonly thinking: string;
  readonly isRunning: boolean;
  readonly end: PlayEnd | null;
  readonly input: number | null;
  readonly output: number | null;
  readonly reason: string | null;
  /** Undefined while it is asked for. */
  readonly charge: PlayCharge | null | undefined;
  /** An error that came within the stream. */
  readonly broken: string | null;
}

const silent: LaneState = {
  ...{
    turns: [],
    asked: null,
    text: '',
    thinking: '',
    isRunning: false,
    end: null,
    input: null,
    output: null,
  },
  ...{ reason: null, charge: undefined, broken: null },
};

interface Sending {
  readonly apiOrigin: string;
  readonly secret: string;
  readonly surface: Surface;
  readonly request: Omit<PlayRequest, 'turns'>;
  readonly turn: PlayTurn;
}

/** A conversation with one model. Sending adds a turn; stopping leaves what has come. */
export function useLane() {
  const [state, setState] = useState(silent);
  const running = useRef<AbortController | null>(null);
  const turns = useRef<readonly PlayTurn[]>([]);
  const stop = useCallback(() => running.current?.abort(), []);
  useEffect(() => stop, [stop]);
  const send = useCallback(async ({ apiOrigin, secret, surface, request, turn }: Sending) => {
    running.current?.abort();
    const controller = new AbortController();
    running.current = controller;
    const asked = { ...request, turns: [...turns.current, turn] };
    setState({ ...silent, turns: asked.turns, asked, isRunning: true });
    let text = '';
    const gathered = new Gathered((pieces) => {
      if (running.current === controller) setState((before) => pieces.reduce(withPiece, before));
    });
    const end = await callSurface(
      { apiOrigin, secret, surface, request: asked, signal: controller.signal },
      (piece) => {
        if (piece.kind === 'text') text += piece.text;
        gathered.add(piece);
      },
    );
    if (running.current !== controller) return;
    gathered.flush();
    // A refused call has no answer, so its question is not a part of the conversation either.
    turns.current = text === '' ? turns.current : [...asked.turns, { role: 'assistant', text }];
    setState((before) => ({
      ...before,
      isRunning: false,
      end,
      charge: end.traceId === null ? null : undefined,
    }));
    if (end.traceId === null) return;
    const charge = await chargeOf(apiOrigin, keyHeaders(surface, secret), end.traceId);
    setState((before) => (before.end === end ? { ...before, charge } : before));
  }, []);
  const clear = useCallback(() => {
    running.current?.abort();
    running.current = null;
    turns.current = [];
    setState(silent);
  }, []);
  return { state, send, stop, clear };
}

function withPiece(state: LaneState, piece: PlayPiece): LaneState {
  switch (piece.kind) {
    case 'text':
      return { ...state, text: state.text + piece.text };
    case 'thinking':
      return { ...state, thinking: state.thinking + piece.text };
    case 'usage':
      return { ...state, input: piece.input ?? state.input, output: piece.output ?? state.output };
    case 'end':
      return { ...state, reason: piece.reason };
    case 'problem':
      return { ...state, broken: piece.text };
  }
}
