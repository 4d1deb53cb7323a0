export { Fingerprint } from './bytes/fingerprint.ts';
export * from './bytes/json-array.ts';
export { formBoundary, isForm } from './bytes/multipart.ts';
export * from './bytes/splice.ts';
export * from './bytes/sse.ts';
export { type BodySurvey, FormSurvey, JsonSurvey } from './bytes/survey.ts';
export { beginningOf } from './bytes/whole-text.ts';
export * from './codec.ts';
export * from './endpoint.ts';
export * from './envelope.ts';
export * from './error.ts';
export * from './protocol.ts';
export * from './protocols.ts';
export { readRetryDelayMs, unknownId } from './refusal.ts';
export { countElements, isBeyondReading, tooManyElements } from './request/elements.ts';
export {
  type MemberRule,
  type MemberRules,
  type NamedMember,
  type NameSearch,
  plainName,
} from './request/named-models.ts';
export { isTag, tagRule } from './request/tag.ts';
export * from './request.ts';
export * from './result.ts';
export * from './sanitise.ts';
export { leastLossFirst } from './translate/least-loss.ts';
export {
  type FetchedMedia,
  type MediaByUrl,
  remoteMediaFault,
  remoteMediaOf,
  withMedia,
} from './translate/media.ts';
export { prefillOf } from './translate/prefill.ts';
export * from './translation.ts';
export * from './turn.ts';
export type * from './turn-event.ts';
export * from './usage.ts';
export * from './wire-values.ts';
