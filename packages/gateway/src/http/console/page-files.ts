import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Context, Hono } from 'hono';

/** The folder of the build of `packages/console`, in a clone and in a published package. */
export const builtConsole = fileURLToPath(new URL('../../../../console/dist', import.meta.url));

/** The names of the files that a build makes: each names its content, so none ever changes. */
const assetPath = /^\/assets\/[\w-][\w.-]*\.(?:js|css|svg)$/;

const contentTypes: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
};

const notBuilt = `The console is not built. Run \`npm run build:console\` in the folder of Headgate and load this page again.
Everything else works: the API, the command line, metrics.
`;

/**
 * The pages of the console: the files of its build, and its one document on every other path that a browser goes to. `apiOrigin` is
 * where the playground calls models; it may also be reached under the name that the console was.
 */
export function pageFiles(folder: string, apiOrigin: () => string): Hono {
  const routes = new Hono();
  routes.get('/assets/*', async (context, next) => {
    const [, ending = ''] = /\.(\w+)$/.exec(context.req.path) ?? [];
    const found = assetPath.test(context.req.path)
      ? await readPacked(folder, context.req.path, context)
      : null;
    if (found === null) return next();
    context.header('cache-control', 'public, max-age=31536000, immutable');
    return send(context, found, contentTypes[ending] ?? 'application/octet-stream');
  });
  routes.get('*', async (context, next) => {
    if (!isPage(context)) return next();
    const found = await readPacked(folder, 'index.html', context);
    if (found === null) return context.text(notBuilt, 503);
    const tag = `"${createHash('sha256').update(found.bytes).digest('base64url').slice(0, 22)}"`;
    for (const [name, value] of Object.entries(pageHeaders(context, apiOrigin())))
      context.header(name, value);
    context.header('etag', tag);
    return context.req.header('if-none-match') === tag
      ? context.body(null, 304)
      : send(context, found, 'text/html; charset=utf-8');
  });
  return routes;
}

/** Browsers ask for documents by this. A program that mistook the port is told that there is nothing. */
function isPage({ req }: Context): boolean {
  const isOthers = /^\/(?:api|metrics|healthz|readyz|assets|status)(?:[/.]|$)/.test(req.path);
  return !isOthers && (req.header('accept') ?? '').includes('text/html');
}

interface PackedFile {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly encoding: 'br' | 'gzip' | null;
}

/** The file in the smallest form that the browser takes and the build has made. */
async function readPacked(folder: string, path: string, { req }: Context): Promise<PackedFile | null> {
  const accepted = req.header('accept-encoding') ?? '';
  const forms = [
    { ending: '.br', encoding: 'br' },
    { ending: '.gz', encoding: 'gzip' },
    { ending: '', encoding: null },
  ] as const;
  for (const { ending, encoding } of forms) {
    if (encoding !== null && !new RegExp(`\\b${encoding}\\b`).test(accepted)) continue;
    const bytes = await readFile(join(folder, `${path}${ending}`)).catch(() => null);
    if (bytes !== null) return { bytes: new Uint8Array(bytes), encoding };
  }
  return null;
}

function send(context: Context, { bytes, encoding }: PackedFile, type: string): Response {
  context.header('vary', 'accept-encoding');
  if (encoding !== null) context.header('content-encoding', encoding);
  return context.body(bytes, 200, { 'content-type': type });
}

/** The rights of the document: it may run its own files, and ask this origin and the API's. Other headers it has as every answer has. */
function pageHeaders({ req }: Context, apiOrigin: string): Readonly<Record<string, string>> {
  const api = URL.parse(apiOrigin);
  const here = URL.parse(`http://${req.header('host') ?? ''}`);
  const beside =
    api === null || here === null ? [] : [`${api.protocol}//${here.hostname}${api.port && `:${api.port}`}`];
  const connect = new Set(["'self'", ...(api === null ? [] : [api.origin]), ...beside]);
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    `connect-src ${[...connect].join(' ')}`,
    "img-src 'self' data:",
    "font-src 'self'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ];
  return {
    'content-security-policy': policy.join('; '),
    'cache-control': 'no-cache',
  };
}
