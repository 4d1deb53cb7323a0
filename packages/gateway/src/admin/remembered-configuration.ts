import type { ConfigurationStore, StoredConfiguration } from '../ports/configuration-store.ts';

/**
 * A store of configuration that is read anew only when something was configured: a thousand channels take longer to come from the store's
 * thread than a page may wait. `snapshot` is another object whenever the time of a planned price has come.
 */
export function rememberedConfiguration(
  store: ConfigurationStore,
  snapshot: () => object,
): ConfigurationStore {
  let known: { readonly of: object; readonly stored: Promise<StoredConfiguration> } | null = null;
  const load = async (): Promise<StoredConfiguration> => {
    const of = snapshot();
    if (known?.of === of) {
      const stored = await known.stored;
      if (stored.revision === (await store.revision())) return stored;
    }
    const made = { of, stored: store.load() };
    known = made;
    // A reading that failed is not remembered.
    made.stored.catch(() => {
      if (known === made) known = null;
    });
    return made.stored;
  };
  return { ...store, load };
}
