import { useEffect, useRef } from 'react';
import { Choice } from '../app/choice.ts';
import { urlOf } from './client.ts';

export type LiveTopic = 'calls' | 'channels' | 'overview' | 'events';

interface Listener {
  readonly hear: (event: unknown) => void;
  /** Something was missed: what is shown is to be fetched anew. */
  readonly miss: () => void;
}

const listeners: Readonly<Record<LiveTopic, Set<Listener>>> = {
  calls: new Set(),
  channels: new Set(),
  overview: new Set(),
  events: new Set(),
};
let source: EventSource | null = null;
let topicsOfSource = '';
let isPlanned = false;
/** The last thing that was heard: a stream that is opened again goes on behind it. */
let lastId: string | null = null;
/** True once there was a stream of these topics, so that another one may have missed something. */
let wasOpen = false;
let retry: ReturnType<typeof setTimeout> | undefined;
let failures = 0;

/** A stream that the gateway refused is opened again after so long, and twice as long after each further time. */
const [retryMsMin, retryMsMax] = [1_000, 30_000];

/** True while the stream of what happens is open. */
export const isLive = new Choice(false);

/**
 * Hears what happens in the gateway, as long as the component is there and its tab is looked at. All of a page share one stream, of the topics
 * that are wanted. `miss` is told when something could not be heard.
 */
export function useLive<Event>(
  topic: LiveTopic,
  hear: (event: Event) => void,
  { enabled = true, miss }: { readonly enabled?: boolean; readonly miss?: () => void } = {},
): void {
  const current = useRef({ hear, miss });
  current.current = { hear, miss };
  useEffect(() => {
    if (!enabled) return;
    const listener: Listener = {
      hear: (event) => current.current.hear(event as Event),
      miss: () => current.current.miss?.(),
    };
    listeners[topic].add(listener);
    plan();
    return () => {
      listeners[topic].delete(listener);
      plan();
    };
  }, [topic, enabled]);
}

// A tab that nobody looks at holds no stream; it goes on where it was when somebody does.
document.addEventListener('visibilitychange', plan);

/** A page that changes takes its listeners away and brings others in one turn: the stream changes once, after it. */
function plan(): void {
  if (isPlanned) return;
  isPlanned = true;
  setTimeout(() => {
    isPlanned = false;
    adjust();
  }, 50);
}

function adjust(): void {
  const wanted = (Object.keys(listeners) as LiveTopic[]).filter((topic) => listeners[topic].size > 0);
  const topics = wanted.join(',');
  const isSame = topics === topicsOfSource;
  if (!isSame) [lastId, wasOpen, failures] = [null, false, 0];
  topicsOfSource = topics;
  const isWanted = topics !== '' && document.visibilityState === 'visible';
  if (isSame && isWanted === (source !== null)) return;
  close();
  if (isWanted) open(wanted, topics);
}

function close(): void {
  clearTimeout(retry);
  source?.close();
  source = null;
  isLive.set(false);
}

/** The browser itself connects again where the connection broke; where the gateway refused, or is starting, we do. */
function open(wanted: readonly LiveTopic[], topics: string): void {
  const opened = new EventSource(urlOf('/live', { topics, lastEventId: lastId }));
  source = opened;
  opened.onopen = () => {
    failures = 0;
    isLive.set(true);
  };
  opened.onerror = () => {
    isLive.set(false);
    if (opened.readyState !== EventSource.CLOSED || source !== opened) return;
    source = null;
    retry = setTimeout(plan, Math.min(retryMsMax, retryMsMin * 2 ** failures++));
  };
  opened.addEventListener('hello', ({ data }: MessageEvent<string>) => {
    const { resumed } = JSON.parse(data) as { readonly resumed: boolean };
    if (wasOpen && !resumed) for (const topic of wanted) tell(topic, ({ miss }) => miss());
    wasOpen = true;
  });
  opened.addEventListener('gap', ({ data }: MessageEvent<string>) => {
    const { topic } = JSON.parse(data) as { readonly topic: LiveTopic };
    tell(topic, ({ miss }) => miss());
  });
  // Who is signed out is told so by the next thing that they ask for.
  opened.addEventListener('bye', ({ data }: MessageEvent<string>) => {
    if ((JSON.parse(data) as { readonly reason: string }).reason === 'signed-out') opened.close();
  });
  for (const topic of wanted)
    opened.addEventListener(topic, ({ data, lastEventId }: MessageEvent<string>) => {
      lastId = lastEventId;
      const event: unknown = JSON.parse(data);
      tell(topic, ({ hear }) => hear(event));
    });
}

function tell(topic: LiveTopic, say: (listener: Listener) => void): void {
  for (const listener of listeners[topic]) say(listener);
}
