/** This tab's memory of a name, or null: a browser may forbid all storage, and then nothing is remembered. */
export function recall(name: string): string | null {
  try {
    return sessionStorage.getItem(`headgate.${name}`);
  } catch {
    return null;
  }
}

/** Remembers a value as long as the tab is open; null forgets it. */
export function remember(name: string, value: string | null): void {
  try {
    if (value === null) sessionStorage.removeItem(`headgate.${name}`);
    else sessionStorage.setItem(`headgate.${name}`, value);
  } catch {
    // The choice then holds until the page is left.
  }
}
