import { keyHeaders } from './stream.ts';
import { bodyOf, type PlayRequest, type Surface } from './surfaces.ts';

/** The call as a command that can be pasted, with a variable in the place of the key; long pictures are cut short. */
export function curlOf(apiOrigin: string, surface: Surface, request: PlayRequest): string {
  const headers = Object.entries(keyHeaders(surface, '$KEY')).map(
    ([name, value]) => `  -H "${name}: ${value}" \\`,
  );
  const body = JSON.stringify(bodyOf(surface, request), null, 2).replaceAll("'", String.raw`'\''`);
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
    `  body: JSON.stringify(${JSON.stringify(bodyOf(surface, request), null, 2).replaceAll('\n', '\n  ')}),`,
    '});',
    'for await (const chunk of answer.body.pipeThrough(new TextDecoderStream())) process.stdout.write(chunk);',
  ].join('\n');
}

/** The same for Python, with what comes with it. */
export function pythonOf(apiOrigin: string, surface: Surface, request: PlayRequest): string {
  const [[name = '', value = ''] = []] = Object.entries(keyHeaders(surface, 'KEY'));
  const key = value === 'KEY' ? "os.environ['KEY']" : 'f"Bearer {os.environ[\'KEY\']}"';
  return [
    'import json, os, urllib.request',
    '',
    `body = ${pythonValue(bodyOf(surface, request), '')}`,
    'request = urllib.request.Request(',
    `    ${JSON.stringify(apiOrigin + surface.path(request))},`,
    '    data=json.dumps(body).encode(),',
    `    headers={"content-type": "application/json", ${JSON.stringify(name)}: ${key}},`,
    ')',
    'with urllib.request.urlopen(request) as answer:',
    '    for line in answer:',
    '        print(line.decode(), end="")',
  ].join('\n');
}

/** A value as Python writes it: JSON, but for three words. */
function pythonValue(value: unknown, margin: string): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value !== 'object') return JSON.stringify(value);
  const inner = `${margin}    `;
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  const parts = Array.isArray(value)
    ? value.map((each) => pythonValue(each, inner))
    : Object.entries(value).map(([name, each]) => `${JSON.stringify(name)}: ${pythonValue(each, inner)}`);
  return parts.length === 0
    ? `${open}${close}`
    : `${open}\n${parts.map((part) => `${inner}${part},\n`).join('')}${margin}${close}`;
}
