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

/** What content bears beside itself, and not every protocol has. */
export type Trait = 'citations' | 'cache-mark' | 'image-detail' | 'filename' | 'media-name' | 'call-seal';

/** How callers of each protocol spell it; where one has no such thing, what it stands in. */
const traitFields: Readonly<Record<ProtocolId, Readonly<Record<Trait, string>>>> = {
  'chat-completions': {
    citations: 'messages[].annotations',
    'cache-mark': 'cache_control',
    'image-detail': 'messages[].content[].image_url.detail',
    filename: 'messages[].content[].file.filename',
    'media-name': 'messages[].content[].image_url',
    'call-seal': 'messages[].tool_calls[].extra_content',
  },
  responses: {
    citations: 'input[].content[].annotations',
    'cache-mark': 'input[].content[].prompt_cache_breakpoint',
    'image-detail': 'input[].content[].detail',
    filename: 'input[].content[].filename',
    'media-name': 'input[].content[].filename',
    'call-seal': 'input[].encrypted_content',
  },
  messages: {
    citations: 'messages[].content[].citations',
    'cache-mark': 'cache_control',
    'image-detail': 'messages[].content[].image',
    filename: 'messages[].content[].title',
    'media-name': 'messages[].content[].image',
    'call-seal': 'messages[].content[].thinking',
  },
  'generate-content': {
    citations: 'contents[].parts[].text',
    'cache-mark': 'cachedContent',
    'image-detail': 'mediaResolution',
    filename: 'contents[].parts[].displayName',
    'media-name': 'contents[].parts[].displayName',
    'call-seal': 'contents[].parts[].thoughtSignature',
  },
  images: {
    citations: 'prompt',
    'cache-mark': 'prompt',
    'image-detail': 'image',
    filename: 'image',
    'media-name': 'image',
    'call-seal': 'prompt',
  },
};

export function traitField(surface: ProtocolId, trait: Trait): string {
  return traitFields[surface][trait];
}

/** Where a caller of this protocol hands back what a model wrote as the arguments of a call. */
export function argumentsField(surface: ProtocolId): string {
  return surface === 'responses' ? 'input[].arguments' : 'messages[].tool_calls[].arguments';
}

/** Where a caller of this protocol says which tools are to be used. */
export function toolChoiceField(surface: ProtocolId): string {
  return surface === 'generate-content' ? 'toolConfig.functionCallingConfig' : 'tool_choice';
}
