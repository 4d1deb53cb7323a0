import { Buffer } from 'node:buffer';
import type { Ending } from './timeline/frame.ts';
import type { Step, Transmission } from './timeline/transmit.ts';

/** The three things a fixed answer may depend on, found by looking at bytes and not by parsing them. */
export interface FixedQuestion {
  readonly model: string;
  readonly stream: boolean;
  readonly wantsUsage: boolean;
}

interface Recording {
  readonly steps: readonly Step[];
  readonly ending: Ending;
}

const recordingsMax = 256;
const stepsMax = 100_000;

/**
 * Answers prepared once and sent again, the same bytes each time, so that a simulator costs next to nothing in a
 * benchmark. An answer is chosen by the model's name alone; the prompt is not looked at and not counted.
 */
export class FixedAnswers {
  readonly #compose: (question: FixedQuestion) => Transmission;
  readonly #recordings = new Map<string, Recording>();

  /** `compose` is called once for each question there is. */
  constructor(compose: (question: FixedQuestion) => Transmission) {
    this.#compose = compose;
  }

  /** `body` is JSON without spaces after its colons, as clients of this protocol send it. */
  answer(body: Buffer): Transmission {
    const question: FixedQuestion = {
      model: modelIn(body),
      stream: body.includes('"stream":true'),
      wantsUsage: body.includes('"include_usage":true'),
    };
    const key = `${question.stream} ${question.wantsUsage} ${question.model}`;
    const recording = this.#recordings.get(key) ?? this.#record(key, question);
    return play(recording);
  }

  #record(key: string, question: FixedQuestion): Recording {
    const recording = record(this.#compose(question));
    // Beyond the bound nothing is kept and answers are only slower; benchmarks use a handful of names.
    if (this.#recordings.size < recordingsMax) this.#recordings.set(key, recording);
    return recording;
  }
}

function* play({ steps, ending }: Recording): Generator<Step, Ending, undefined> {
  yield* steps;
  return ending;
}

/** Plays a transmission to its end; steps due together become one. */
function record(transmission: Transmission): Recording {
  const groups: { readonly atMs: number; readonly parts: Uint8Array[] }[] = [];
  for (let count = 0; count < stepsMax; count++) {
    const next = transmission.next();
    if (next.done === true) {
      const steps = groups.map(({ atMs, parts }) => ({ atMs, bytes: Buffer.concat(parts) }));
      return { steps, ending: next.value };
    }
    const { atMs, bytes } = next.value;
    const last = groups.at(-1);
    if (last?.atMs === atMs) last.parts.push(bytes);
    else groups.push({ atMs, parts: [bytes] });
  }
  throw new Error(`a fixed answer may have at most ${stepsMax} steps`);
}

const modelMember = '"model":"';

function modelIn(body: Buffer): string {
  const start = body.indexOf(modelMember);
  if (start < 0) return '';
  const from = start + modelMember.length;
  return body.toString('utf8', from, body.indexOf('"', from));
}
