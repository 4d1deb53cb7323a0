import type { ProtocolId } from '@headgate/protocols';
import { expect, test } from 'vitest';
import { modelOf, targetOf } from '../../catalogue.fixture.ts';
import { asking, streamed } from '../route.fixture.ts';
import { unknownAnswer } from './unknown-answer.ts';

const model = modelOf([targetOf({ id: 'a' })]);

test.each<readonly [ProtocolId, string, number, string]>([
  ['responses', 'resp_1', 400, "Previous response with id 'resp_1' not found."],
  ['responses', 'conv_1', 404, "Conversation with id 'conv_1' not found."],
  ['generate-content', 'cachedContents/1', 403, 'CachedContent not found (or permission denied)'],
  ['messages', 'container_1', 404, 'Not found: container_1'],
])('%s: nobody is told of another account’s %s', (protocol, continues, status, message) => {
  const ask = { ...asking({ ...streamed, continues }, model), protocol };
  expect(unknownAnswer(ask)).toMatchObject({ code: 'upstream_invalid_request', status, message });
});
