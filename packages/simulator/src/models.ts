export interface SimulatedModel {
  readonly id: string;
  /** Words that come before those of the request. */
  readonly command: string;
}

/** The models a simulator lists. It answers to any other name too, as `sim-fast` does. */
export const simulatedModels: readonly SimulatedModel[] = [
  { id: 'sim-fast', command: '' },
  { id: 'sim-demo', command: 'ttft=250ms,rate=40/s' },
  { id: 'sim-reasoning', command: 'ttft=250ms,rate=40/s,reasoning=32' },
];

export interface NamedModel {
  readonly name: string;
  /** The words after the plus; empty when there are none. */
  readonly command: string;
}

/** Separates `sim-fast+tokens=40` into the model's name and its command. */
export function readModelName(text: string): NamedModel {
  const plus = text.indexOf('+');
  return plus < 0
    ? { name: text, command: '' }
    : { name: text.slice(0, plus), command: text.slice(plus + 1) };
}

export function presetOf(name: string): string {
  return simulatedModels.find((model) => model.id === name)?.command ?? '';
}
