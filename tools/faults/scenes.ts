/** One way in which a preferred upstream fails for a while, with a healthy one behind it. */
export interface Scene {
  /** Also the id of its model. */
  readonly id: string;
  readonly title: string;
  /** The words of the simulator, beside those it has when all is well; null refuses connections. */
  readonly fault: string | null;
  readonly stream: boolean;
}

/** Words of a whole answer: by their number a caller knows who gave it, and that it is not cut short. */
export const preferredWords = 12;
export const spareWords = 14;

/** An answer when all is well: begun after 50 ms, and told in some 120 more. */
export const pace = 'ttft=50ms,rate=100/s';

const streamed: readonly (readonly [id: string, title: string, fault: string | null])[] = [
  ['healthy', 'nothing', ''],
  ['status-500', 'status 500', 'fault=500'],
  ['half-500', 'status 500, every other call', 'fault=500,share=50%'],
  ['status-429', 'status 429, retry after 2 s', 'fault=429,retry-after=2s'],
  ['status-401', 'status 401', 'fault=401'],
  ['context', 'prompt too long for it', 'fault=400,code=context_length_exceeded'],
  ['refused', 'connections refused', null],
  ['silent', 'no byte', 'fault=stall-before-head'],
  ['silent-head', 'a head, and no more', 'fault=stall-before-content'],
  ['slow', 'first byte after 10 s', 'ttft=10s'],
  ['trickle', 'a word a second', 'rate=1/s'],
  ['cut-before', 'cut before content', 'fault=cut-before-content'],
  ['cut-after', 'cut after five words', 'fault=cut-mid-stream,at=5'],
  ['end-after', 'a clean end after five words', 'fault=end-mid-stream,at=5'],
  ['stall-after', 'silence after five words', 'fault=stall-mid-stream,at=5'],
  ['error-before', 'an error in a 200', 'fault=error-before-content'],
  ['garbled', 'a frame that is no JSON first', 'fault=garble-before-content'],
  ['html', 'a page with status 200', 'fault=html'],
  ['wrong-type', 'the right answer under a wrong type', 'fault=wrong-type'],
  ['empty', 'an empty body with status 200', 'fault=empty'],
];

const whole: readonly (readonly [id: string, title: string, fault: string])[] = [
  ['json-500', 'JSON: status 500', 'fault=500'],
  ['json-html', 'JSON: a page with status 200', 'fault=html'],
  ['json-cut', 'JSON: cut in the middle', 'fault=cut-mid-stream'],
  ['json-truncated', 'JSON: half of it, cleanly ended', 'fault=end-mid-stream'],
];

export const scenes: readonly Scene[] = [
  ...streamed.map(([id, title, fault]) => ({ id, title, fault, stream: true })),
  ...whole.map(([id, title, fault]) => ({ id, title, fault, stream: false })),
];
