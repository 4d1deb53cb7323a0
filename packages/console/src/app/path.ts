import { useParams } from '@tanstack/react-router';

/** A part of the address, as `id` in `/keys/$id`. */
export function usePathId(name = 'id'): string {
  const parts: Readonly<Record<string, string | undefined>> = useParams({ strict: false });
  return parts[name] ?? '';
}
