import { useSyncExternalStore } from 'react';

/** A key's secret in the memory of this tab: it is gone when the tab is closed or loaded anew, and never written anywhere. */
export interface HeldKey {
  readonly secret: string;
  readonly platform: 'completions' | 'messages' | 'native';
  readonly name: string;
}

class KeyHolder {
  #keys: readonly HeldKey[] = [];
  readonly #listeners = new Set<() => void>();

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly all = (): readonly HeldKey[] => this.#keys;

  /** One for each platform: a newer one takes the place of the one before. */
  hold(key: HeldKey): void {
    this.#keys = [key, ...this.#keys.filter(({ platform }) => platform !== key.platform)];
    for (const listener of this.#listeners) listener();
  }

  drop(platform: HeldKey['platform']): void {
    this.#keys = this.#keys.filter((key) => key.platform !== platform);
    for (const listener of this.#listeners) listener();
  }
}

export const heldKeys = new KeyHolder();

/** Every key that is held, the last one first. */
export function useHeldKeys(): readonly HeldKey[] {
  return useSyncExternalStore(heldKeys.subscribe, heldKeys.all);
}

export function useHeldKey(platform: HeldKey['platform']): HeldKey | null {
  return useHeldKeys().find((key) => key.platform === platform) ?? null;
}
