import { Hono } from 'hono';
import { html } from 'hono/html';
import { apiPrefix, type ConsoleApi } from './console-api.ts';
import { docsStyle } from './docs-style.ts';
import { type OpenApiDocument, type Operation, openApiDocument, type SchemaJson } from './open-api.ts';
import { problemCodes } from './problem.ts';
import { proseHtml, schemaHtml } from './schema-html.ts';

type Html = ReturnType<typeof html>;

const policy =
  "default-src 'none'; style-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

/** The description of the interface as a page to read: made here, without a script and without asking anybody else. */
export function docsPage(api: ConsoleApi): Hono {
  const routes = new Hono();
  // The routes are all there by the time that somebody reads about them, and stay as they are.
  let made: string | null = null;
  routes.get('/api/docs', async (context) => {
    made ??= String(await pageOf(openApiDocument(api.specs)));
    return context.html(made, 200, { 'content-security-policy': policy, 'cache-control': 'no-cache' });
  });
  routes.get('/api/docs.css', (context) =>
    context.body(docsStyle, 200, { 'content-type': 'text/css; charset=utf-8', 'cache-control': 'no-cache' }),
  );
  return routes;
}

interface Route {
  readonly path: string;
  readonly method: string;
  readonly operation: Operation;
}

function pageOf(document: OpenApiDocument): Html {
  const routes = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): Route => ({ path, method, operation })),
  );
  const byTag = document.tags.map(({ name }) => ({
    name,
    routes: routes.filter(({ operation }) => operation.tags.includes(name)),
  }));
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${document.info.title} API</title>
<link rel="stylesheet" href="/api/docs.css">
</head>
<body>
<nav aria-label="Routes">
<a class="home" href="#top">${document.info.title} API</a>
<ul>${byTag.map(({ name }) => html`<li><a href="#${anchorOf(name)}">${name}</a></li>`)}
<li><a href="#problems">Problems</a></li><li><a href="#schemas">Schemas</a></li></ul>
</nav>
<main id="top">
${introduction(document)}
${byTag.map(({ name, routes: own }) => html`<section id="${anchorOf(name)}"><h2>${name}</h2>${own.map(routeHtml)}</section>`)}
${problems()}
<section id="schemas"><h2>Schemas</h2>${Object.entries(document.components.schemas).map(([name, schema]) => schemaSection(name, schema))}</section>
</main>
</body>
</html>`;
}

function anchorOf(tag: string): string {
  return tag.toLowerCase().replaceAll(/[^a-z]+/g, '-');
}

function introduction({ info }: OpenApiDocument): Html {
  return html`<header>
<h1>${info.title} API</h1>
<p>${proseHtml(info.description)}</p>
<p>Programs send the operator’s token, which is in the file <code>operator-token</code> of the data directory:</p>
<pre tabindex="0"><code>curl -H "Authorization: Bearer $(cat data/operator-token)" http://127.0.0.1:8081${apiPrefix}/accounts</code></pre>
<p>Pages of the console use a session cookie. The whole description is at
<a href="${apiPrefix}/openapi.json"><code>${apiPrefix}/openapi.json</code></a> as OpenAPI 3.1.</p>
<dl>
<dt>Lists</dt><dd><code>{ items, next }</code>: <code>next</code> is asked for as <code>?cursor=</code>; null behind the last page.</dd>
<dt>Changes</dt><dd><code>If-Match</code> with the <code>ETag</code> that was read: 412 where somebody was faster.</dd>
<dt>Creates</dt><dd><code>Idempotency-Key</code> with a name of your own: under one name it is made once within a day. What is shown only once is null when it is asked for again.</dd>
<dt>Mistakes</dt><dd>Members that are not named here are refused. Each problem names the fields, and how to mend them.</dd>
</dl>
</header>`;
}

function routeHtml({ path, method, operation }: Route): Html {
  const { summary, description, parameters, requestBody, responses } = operation;
  const body = requestBody?.content['application/json']?.schema;
  const [status = '', success] = Object.entries(responses).find(([code]) => code !== 'default') ?? [];
  const [type = '', answered] = Object.entries(success?.content ?? {})[0] ?? [];
  const answer = answered?.schema;
  return html`<article id="${operation.operationId}">
<h3><span class="method ${method}">${method.toUpperCase()}</span> <code class="path">${path}</code>
<a class="anchor" href="#${operation.operationId}" aria-label="Link to ${operation.operationId}">#</a></h3>
<p>${summary}.${description === undefined ? '' : proseHtml(` ${description}`)} <span class="access">${accessWords[operation['x-access']]}</span></p>
${
  parameters.length === 0
    ? ''
    : html`<table><thead><tr><th>Parameter</th><th>In</th><th>Type</th><th>Meaning</th></tr></thead><tbody>
${parameters.map((each) => html`<tr><td><code>${each.name}</code></td><td>${each.in}</td><td><code>${schemaHtml(each.schema)}</code></td><td>${proseHtml(each.description ?? '')}</td></tr>`)}
</tbody></table>`
}
${body === undefined ? '' : html`<h4>Body</h4><pre tabindex="0"><code>${schemaHtml(body)}</code></pre>`}
<h4>Answer <span class="status">${status}</span></h4>${answer === undefined ? html`<p>Nothing.</p>` : type === 'application/json' ? html`<pre tabindex="0"><code>${schemaHtml(answer)}</code></pre>` : html`<p><code>${type}</code></p>`}
</article>`;
}

const accessWords: Readonly<Record<Operation['x-access'], string>> = {
  anyone: 'for everybody',
  'signed-in': 'for who is signed in',
  viewer: 'for viewers, of their accounts',
  member: 'for members, of their accounts',
  admin: 'for admins, of their accounts',
  operator: 'for operators',
};

function problems(): Html {
  return html`<section id="problems"><h2>Problems</h2>
<p>Every problem is <code>application/problem+json</code> (RFC 9457). Its <code>code</code> never changes; its <code>detail</code> is for people.</p>
<table><thead><tr><th>Status</th><th>Code</th><th>Meaning</th></tr></thead><tbody>
${problemCodes.map(({ code, status, title }) => html`<tr id="${code}"><td>${status}</td><td><code>${code}</code></td><td>${title}</td></tr>`)}
</tbody></table></section>`;
}

function schemaSection(name: string, schema: SchemaJson): Html {
  return html`<article id="schema-${name}"><h3><code>${name}</code></h3>
${schema.description === undefined ? '' : html`<p>${proseHtml(schema.description)}</p>`}
<pre tabindex="0"><code>${schemaHtml(schema)}</code></pre></article>`;
}
