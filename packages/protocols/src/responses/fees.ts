import { meanPrompt } from '../billing.ts';
import { totalInput, type Usage } from '../usage.ts';
import { recordOf, stringOf } from '../wire-values.ts';

/** The items of an answer with a fee: searches of the web or of files, and code that was run, each with its container. */
export class FeeItems {
  #webSearches = 0;
  #fileSearches = 0;
  readonly #containers = new Set<string>();

  /** Adds an item in whichever state; one that only reads a page it has found is no search. */
  take(wire: unknown): void {
    const item = recordOf(wire);
    switch (item['type']) {
      case 'web_search_call':
        if ((recordOf(item['action'])['type'] ?? 'search') === 'search') this.#webSearches++;
        break;
      case 'file_search_call':
        this.#fileSearches++;
        break;
      case 'code_interpreter_call':
        this.#containers.add(stringOf(item['container_id']) ?? `item ${this.#containers.size}`);
    }
  }

  /** The usage with these fees, unless it counts them itself. */
  addTo(usage: Usage): Usage {
    if (usage.webSearches + usage.fileSearches + usage.codeSessions > 0) return usage;
    return {
      ...usage,
      webSearches: this.#webSearches,
      fileSearches: this.#fileSearches,
      codeSessions: this.#containers.size,
    };
  }
}

/**
 * The prompt that the context tier goes by, where the model was asked several times for one answer: as the upstream tells it
 * (`context_details`), or else the mean, each item of its own tools having been followed by another prompt.
 */
export function promptOf(wire: unknown, usage: Usage, items: number): number | null {
  const told = recordOf(recordOf(wire)['context_details'])['input_tokens'];
  return typeof told === 'number' && told > 0 ? told : meanPrompt(totalInput(usage), items + 1);
}
