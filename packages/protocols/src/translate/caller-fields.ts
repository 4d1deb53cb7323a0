import type { ProtocolId } from '../inbound-request.ts';
import { unreachable } from '../result.ts';
import type { MediaKind } from '../turn.ts';

/** Where a caller of this protocol puts pictures, sounds and files, without positions: what losses and refusals name. */
export function mediaField(surface: ProtocolId, media: MediaKind): string {
  switch (surface) {
    case 'chat-completions':
      return `messages[].content[].${media === 'image' ? 'image_url' : media === 'audio' ? 'input_audio' : 'file'}`;
    case 'responses':
      return `input[].content[].input_${media}`;
    case 'messages':
      return `messages[].content[].${media === 'file' ? 'document' : media}`;
    case 'generate-content':
      return 'contents[].parts[].inlineData';
    case 'images':
      return 'image';
    default:
      return unreachable(surface);
  }
}

/** Where a caller of this protocol hands sealed thoughts back. */
export function sealedField(surface: ProtocolId): string {
  switch (surface) {
    case 'chat-completions':
      return 'messages[].reasoning_details';
    case 'responses':
      return 'input[].encrypted_content';
    case 'messages':
      return 'messages[].content[].thinking';
    case 'generate-content':
      return 'contents[].parts[].thoughtSignature';
    case 'images':
      return 'image';
    default:
      return unreachable(surface);
  }
}
