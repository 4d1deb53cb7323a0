/** Adds a header as `UpstreamHead` wants it: a repeated one is joined with ", " (RFC 9110, 5.3). */
export function addHeader(headers: Map<string, string>, lowerCaseName: string, value: string): void {
  const earlier = headers.get(lowerCaseName);
  headers.set(lowerCaseName, earlier === undefined ? value : `${earlier}, ${value}`);
}
