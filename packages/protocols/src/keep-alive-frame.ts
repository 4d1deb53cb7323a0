const encoder = new TextEncoder();

/** A comment, which every reader of server-sent events skips. */
export const commentFrame = encoder.encode(': keep-alive\n\n');

/** The event that the messages protocol has for it. */
export const pingFrame = encoder.encode('event: ping\ndata: {"type": "ping"}\n\n');
