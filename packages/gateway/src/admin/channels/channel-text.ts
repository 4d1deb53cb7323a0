import { fail, type Result, succeed } from '@headgate/protocols';
import { stringify } from 'yaml';
import type { DeclaredChannel } from '../../catalogue/entities.ts';
import { readYaml, type YamlPath, type YamlSource } from '../../config/yaml-source.ts';
import type { FieldMistake } from '../piecewise.ts';
import { formOf } from './channel-form.ts';

/** A channel as a configuration file declares it. */
export function channelText(channel: DeclaredChannel): string {
  return stringify({ channels: { [channel.id]: formOf(channel) } }, { lineWidth: 0 });
}

/** Reads the text of one channel: all of `channels`, or what stands under its id. */
export function readChannelText(
  id: string,
  text: string,
): Result<Readonly<Record<string, unknown>>, readonly FieldMistake[]> {
  const source = readYaml(text, 'line');
  if (!source.ok)
    return fail(
      source.error.map(({ where, message }) => ({ field: 'yaml', message: `${placeIn(where)}: ${message}` })),
    );
  const plain = withExactCosts(source.value);
  if (!isMap(plain)) return mistaken('must be a map: channels, the id below it, and its members below that');
  if (!('channels' in plain)) return succeed(plain);
  const { channels } = plain;
  const names = isMap(channels) ? Object.keys(channels) : [];
  const form = isMap(channels) ? channels[id] : undefined;
  if (names.length !== 1 || names[0] !== id || Object.keys(plain).length !== 1)
    return mistaken(`must name the channel "${id}" and nothing else`);
  return isMap(form) ? succeed(form) : mistaken(`channels.${id} must be a map of members`);
}

/** Amounts are taken as they were written: a float has no say in them. */
function withExactCosts(source: YamlSource): unknown {
  const exact = (value: unknown, path: YamlPath): unknown => {
    const isAmount = path.includes('cost') && path.at(-1) !== 'aboveInputTokens';
    if (typeof value === 'number') return isAmount ? (source.exactText(path) ?? value) : value;
    if (Array.isArray(value)) return value.map((item, at) => exact(item, [...path, at]));
    if (!isMap(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, each]) => [name, exact(each, [...path, name])]),
    );
  };
  return exact(source.plain, []);
}

/** `line:3:7` as people say it. */
function placeIn(where: string): string {
  const [, line = '1', column = '1'] = where.split(':');
  return `line ${line}, column ${column}`;
}

function mistaken(message: string): Result<never, readonly FieldMistake[]> {
  return fail([{ field: 'yaml', message }]);
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
