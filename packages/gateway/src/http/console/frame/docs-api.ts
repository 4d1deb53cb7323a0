import { z } from 'zod';
import { answer } from './answer.ts';
import type { ConsoleApi } from './console-api.ts';
import { openApiDocument } from './open-api.ts';

/** The description of the interface itself: it tells what there is, and nothing of what is in it. */
export function docsApi(api: ConsoleApi): void {
  api.route(
    {
      ...{ method: 'get', path: '/openapi.json', access: 'anyone', tag: 'Description' },
      summary: 'This description, as OpenAPI',
      answer: z.record(z.string(), z.unknown()),
    },
    () => answer({ ...openApiDocument(api.specs) }),
  );
}
