import { type BodySurvey, FormSurvey, formBoundary, JsonSurvey } from '@headgate/protocols';

/** Shorter bodies are read without: a turn of the event loop has room for that. Bytes. */
const jsonBytesMin = 2 * 1024 * 1024;
/** A form can be dearer to look through; nothing shorter is looked through. */
export const surveyedMin = 512 * 1024;

/** Looks for all that has to be known of a body before it is read, slice by slice; null for one that needs none. */
export function surveyOf(body: Uint8Array, contentType = ''): BodySurvey | null {
  const boundary = formBoundary(contentType);
  if (boundary !== null) return new FormSurvey(body, boundary);
  return body.length < jsonBytesMin ? null : new JsonSurvey(body);
}
