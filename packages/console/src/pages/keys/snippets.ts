import table from './snippets.json' with { type: 'json' };

export type KeyPlatform = 'completions' | 'messages' | 'native';

/** The gaps of a snippet. */
export interface SnippetGaps {
  readonly origin: string;
  readonly secret: string;
  readonly model: string;
}

export interface Snippet {
  readonly id: string;
  readonly label: string;
  readonly code: string;
}

/** Ways to call the gateway that a key of this platform can take, ready to be pasted. */
export function snippetsFor(platform: KeyPlatform, gaps: SnippetGaps): readonly Snippet[] {
  return table
    .filter((each) => each.platform === platform)
    .map(({ id, label, lines }) => ({ id, label, code: fill(lines.join('\n'), gaps) }));
}

function fill(text: string, { origin, secret, model }: SnippetGaps): string {
  return text.replaceAll('{origin}', origin).replaceAll('{secret}', secret).replaceAll('{model}', model);
}
