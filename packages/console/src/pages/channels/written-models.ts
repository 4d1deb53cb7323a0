import type { ChannelView } from '@headgate/gateway/console';
import type { WrittenParts } from '../models/price-fields.tsx';

export const needs = [
  ...(['tools', 'image-input', 'audio-input', 'file-input', 'audio-output', 'structured-output'] as const),
] as const;
type Need = (typeof needs)[number];

/** A model of a channel as a form has it. */
export interface ModelRow {
  /** Stays the same while its names change. */
  readonly key: number;
  readonly id: string;
  readonly upstream: string;
  readonly contextWindow: string;
  readonly lacks: readonly Need[];
  /** As it is written: parts with their prices, or what the form does not show, which stays as it is. */
  readonly cost: unknown;
}

let made = 0;

export function emptyRow(): ModelRow {
  return { key: ++made, id: '', upstream: '', contextWindow: '', lacks: [], cost: {} };
}

/** The rows of what is written: a list of names, or what is particular to each. */
export function rowsOf(models: ChannelView['written'][string]): readonly ModelRow[] {
  if (Array.isArray(models)) return models.map((id) => ({ ...emptyRow(), id: String(id) }));
  return Object.entries(recordOf(models)).map(([id, written]) => {
    const { upstream, contextWindow, lacks, cost } = recordOf(written);
    return {
      ...emptyRow(),
      id,
      upstream: typeof upstream === 'string' ? upstream : '',
      contextWindow: contextWindow === undefined ? '' : String(contextWindow),
      lacks: needs.filter((need) => Array.isArray(lacks) && lacks.includes(need)),
      cost: cost ?? {},
    };
  });
}

/** The models as the API takes them. Text that is no number goes as it is: the API says why it is wrong. */
export function modelsOfRows(rows: readonly ModelRow[]): Readonly<Record<string, object>> {
  const entries = rows.map(({ id, upstream, contextWindow, lacks, cost }) => {
    const tokens = contextWindow.trim();
    return [
      id.trim(),
      {
        ...(upstream.trim() === '' || upstream.trim() === id.trim() ? {} : { upstream: upstream.trim() }),
        ...(tokens === '' ? {} : { contextWindow: /^\d+$/.test(tokens) ? Number(tokens) : tokens }),
        ...(lacks.length === 0 ? {} : { lacks }),
        ...(isPlain(cost) && Object.keys(filled(cost)).length === 0
          ? {}
          : { cost: isPlain(cost) ? filled(cost) : cost }),
      },
    ] as const;
  });
  return Object.fromEntries(entries);
}

/** True of a price that is no more than its parts and their context tiers, which fields can show. */
export function isPlain(cost: unknown): cost is WrittenParts {
  if (typeof cost !== 'object' || cost === null || Array.isArray(cost)) return false;
  return Object.entries(cost).every(([name, value]) =>
    name === 'tiers'
      ? Array.isArray(value) && value.every((tier) => isPlain(tier))
      : typeof value === 'string' || typeof value === 'number' || name === 'whole',
  );
}

/** Without parts whose field is empty. */
export function filled(parts: WrittenParts): WrittenParts {
  return Object.fromEntries(
    Object.entries(parts).flatMap(([name, value]) => {
      if (name !== 'tiers' || !Array.isArray(value)) return value === '' ? [] : [[name, value]];
      return value.length === 0 ? [] : [[name, value.map(filled)]];
    }),
  );
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
