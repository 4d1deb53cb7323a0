import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { operationsApi } from '../operations-api.ts';
import { testSources } from '../sources.fixture.ts';
import { ConsoleApi } from './console-api.ts';
import { docsApi } from './docs-api.ts';
import { docsPage } from './docs-page.ts';
import { Gate } from './gate.ts';
import { openApiDocument, type SchemaJson } from './open-api.ts';

const gate = new Gate({
  ...{ operatorToken: 'token', consoleOrigin: null, now: () => 0 },
  findPerson: () => Promise.resolve(null),
});
const api = new ConsoleApi({ gate, creates: null });
operationsApi(api, testSources({}), () => Promise.resolve(null));
docsApi(api);
const document = openApiDocument(api.specs);

/** Every reference of a value. */
function refsOf(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, each]) =>
    name === '$ref' && typeof each === 'string' ? [each] : refsOf(each),
  );
}

test('every route is described once, with who may ask it', () => {
  const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
  expect(operations).toHaveLength(api.specs.length);
  expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(operations.length);
  for (const operation of operations) {
    expect(operation['x-access']).toMatch(/^(anyone|signed-in|viewer|member|admin|operator)$/);
    expect(operation.summary).toMatch(/^[A-Z][^.]*$/);
  }
});

test('its schemas are JSON Schema, and whatever they refer to is there', () => {
  const { schemas } = document.components;
  for (const ref of refsOf(document)) expect(Object.keys(schemas)).toContain(ref.split('/').at(-1));
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema({ $id: 'document', components: { schemas } });
  for (const name of Object.keys(schemas))
    expect(() => ajv.compile({ $ref: `document#/components/schemas/${name}` }), name).not.toThrow();
});

test('a list is described as it is asked: its query, its page and its problems', () => {
  const audit = document.paths['/api/v1/audit']?.['get'];
  expect(audit?.parameters.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['cursor', 'limit', 'account', 'action', 'from']),
  );
  expect(audit?.parameters.find(({ name }) => name === 'limit')?.schema).toMatchObject({
    type: 'integer',
    maximum: 200,
  });
  const answer: SchemaJson = document.components.schemas['AuditPage'] ?? {};
  expect(Object.keys(answer.properties ?? {})).toEqual(['items', 'next']);
  expect(audit?.responses['default']?.content).toHaveProperty(['application/problem+json']);
});

test('the page of it has every route, asks nobody else, and runs nothing', async () => {
  const page = docsPage(api);
  const answer = await page.request('/api/docs');
  const text = await answer.text();
  for (const { path } of api.specs) expect(text).toContain(`/api/v1${path}</code>`);
  expect(text).not.toMatch(/<script|style=|src=|https?:\/\/(?!127\.0\.0\.1)|\[object Object\]|undefined/);
  expect(answer.headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'self';/);
  expect((await page.request('/api/docs.css')).headers.get('content-type')).toContain('text/css');
});
