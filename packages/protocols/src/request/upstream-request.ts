export const jsonType = 'application/json';

/** The path at an upstream, with the members of the caller's query that are meant for it; nothing else of it goes there. */
export function withQuery(path: string, search: string, forwarded: readonly string[]): string {
  if (search === '') return path;
  const given = new URLSearchParams(search);
  const members = forwarded.flatMap((name) => given.getAll(name).map((value) => [name, value]));
  if (members.length === 0) return path;
  return `${path}${path.includes('?') ? '&' : '?'}${new URLSearchParams(members)}`;
}

/** A path in which placeholders stand for the model and for what is asked of it; one without them is complete as it is. */
export function fillPath(path: string, upstreamModel: string, action: string): string {
  return path.replace('{model}', () => encodeURIComponent(upstreamModel)).replace('{action}', () => action);
}
