export * from './bytes/concat-bytes.ts';
export { Fingerprint } from './bytes/fingerprint.ts';
export * from './bytes/json-array.ts';
export { isForm } from './bytes/multipart.ts';
export * from './bytes/sse.ts';
export type * from './codec.ts';
export * from './endpoint.ts';
export * from './envelope.ts';
export * from './error.ts';
export type { FinishReason } from './finish-reason.ts';
export * from './image-kind.ts';
export * from './inbound-request.ts';
export * from './loss.ts';
export * from './protocol.ts';
export * from './protocols.ts';
export { readRetryDelayMs } from './refusal.ts';
export * from './result.ts';
export * from './sanitise.ts';
export * from './smallest-call.ts';
export {
  type FetchedMedia,
  type MediaByUrl,
  remoteMediaFault,
  remoteMediaOf,
  withMedia,
} from './translate/remote-media.ts';
export * from './translation.ts';
export * from './turn.ts';
export type * from './turn-event.ts';
export * from './usage.ts';
export * from './wire-values.ts';
