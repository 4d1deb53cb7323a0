import { keyHeaders } from './stream.ts';
import type { PlayRequest, Surface } from './surfaces.ts';

/** The call as a command that can be pasted, with a variable in the place of the key; long pictures are cut short. */
export function curlOf(apiOrigin: string, surface: Surface, request: PlayRequest): string {
  const headers = Object.entries(keyHeaders(surface, '$KEY')).map(
    ([name, value]) => `  -H "${name}: ${value}" \\`,
  );
  const body = JSON.stringify(surface.body(request), null, 2).replaceAll("'", String.raw`'\''`);
  return [
    `curl -sN '${apiOrigin}${surface.path(request)}' \\`,
    ...headers,
    `  -H 'content-type: application/json' \\`,
    `  -d '${body}'`,
  ].join('\n');
}

/** The same for JavaScript, without a package. */
export function scriptOf(apiOrigin: string, surface: Surface, request: PlayRequest): string {
  const headers = { 'content-type': 'application/json', ...keyHeaders(surface, 'KEY') };
  const [bearer, bare] = [`\`Bearer \${process.env.KEY}\``, 'process.env.KEY'];
  const written = JSON.stringify(headers, null, 4).replace('"Bearer KEY"', bearer);
  return [
    `const answer = await fetch(${JSON.stringify(apiOrigin + surface.path(request))}, {`,
    "  method: 'POST',",
    `  headers: ${written.replace('"KEY"', bare).replaceAll('\n', '\n  ')},`,
    `  body: JSON.stringify(${JSON.stringify(surface.body(request), null, 2).replaceAll('\n', '\n  ')}),`,
    '});',
    'for await (const chunk of answer.body.pipeThrough(new TextDecoderStream())) process.stdout.write(chunk);',
  ].join('\n');
}
