import { useSyncExternalStore } from 'react';

/** A value that all of the page shares and that may change. */
export class Choice<Value> {
  #value: Value;
  readonly #listeners = new Set<() => void>();

  constructor(value: Value) {
    this.#value = value;
  }

  get = (): Value => this.#value;

  set(value: Value): void {
    if (Object.is(value, this.#value)) return;
    this.#value = value;
    for (const listener of this.#listeners) listener();
  }

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };
}

export function useChoice<Value>(choice: Choice<Value>): Value {
  return useSyncExternalStore(choice.subscribe, choice.get);
}
