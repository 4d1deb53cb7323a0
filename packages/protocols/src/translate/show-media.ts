import type { Block, MediaBlock, Message } from '../turn.ts';

const note = '[Made by the model in its answer above]';

/**
 * A conversation in which the model says words only, for protocols that take no pictures from it: what it has made is shown
 * to it by the user right behind, so that it can be spoken of.
 */
export function showMedia(messages: readonly Message[]): readonly Message[] {
  return messages.flatMap((message) => {
    const made = message.role === 'assistant' ? message.content.filter(isMedia) : [];
    if (made.length === 0) return [message];
    const said = { ...message, content: message.content.filter((block) => !isMedia(block)) };
    const text: Block = { kind: 'text', text: note, citations: [], cacheTtl: null };
    return [said, { role: 'user', content: [text, ...made], name: null }];
  });
}

function isMedia(block: Block): block is MediaBlock {
  return block.kind === 'media';
}
