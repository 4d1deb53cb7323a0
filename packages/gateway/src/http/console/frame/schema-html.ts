import { html } from 'hono/html';
import type { SchemaJson } from './open-api.ts';

type Html = ReturnType<typeof html>;

/** A schema as people read types: `{ name: string; role: "admin" | "viewer" }`, with links to those that have names. */
export function schemaHtml(schema: SchemaJson, depth = 0): Html {
  const { $ref, anyOf, enum: values, const: value, type, items, properties, additionalProperties } = schema;
  if ($ref !== undefined) {
    const name = $ref.split('/').at(-1) ?? '';
    return html`<a href="#schema-${name}">${name}</a>`;
  }
  if (anyOf !== undefined) return joined(anyOf.map((each) => schemaHtml(each, depth)));
  if (values !== undefined) return joined(values.map((each) => html`${JSON.stringify(each)}`));
  if (value !== undefined) return html`${JSON.stringify(value)}`;
  if (type === 'array') return html`${schemaHtml(items ?? {}, depth)}[]`;
  if (properties !== undefined) return objectHtml(schema, depth);
  if (type === 'object')
    return html`{ [name]: ${schemaHtml(typeof additionalProperties === 'object' ? additionalProperties : {}, depth)} }`;
  return html`${Array.isArray(type) ? type.join(' | ') : (type ?? 'any')}`;
}

/** Text in which backticks set what is typed apart. */
export function proseHtml(text: string): Html {
  return html`${text.split('`').map((part, at) => (at % 2 === 0 ? part : html`<code>${part}</code>`))}`;
}

function joined(parts: readonly Html[]): Html {
  return html`${parts.map((part, at) => (at === 0 ? part : html` | ${part}`))}`;
}

function objectHtml({ properties = {}, required = [] }: SchemaJson, depth: number): Html {
  const indent = '  '.repeat(depth + 1);
  const lines = Object.entries(properties).map(([name, member]) => {
    const optional = required.includes(name) ? '' : '?';
    const note =
      member.description === undefined ? '' : html`  <i>${member.description.replaceAll('`', '')}</i>`;
    return html`${indent}${name}${optional}: ${schemaHtml(member, depth + 1)}${note}\n`;
  });
  return html`{\n${lines}${'  '.repeat(depth)}}`;
}
