import { useEffect, useRef } from 'react';
import { Choice } from '../app/choice.ts';
import { urlOf } from './client.ts';

export type LiveTopic = 'calls' | 'channels' | 'overview' | 'events';

type Listener = (event: unknown) => void;

const listeners: Readonly<Record<LiveTopic, Set<Listener>>> = {
  calls: new Set(),
  channels: new Set(),
  overview: new Set(),
  events: new Set(),
};
let source: EventSource | null = null;
let topicsOfSource = '';
let isPlanned = false;

/** True while the stream of what happens is open. */
export const isLive = new Choice(false);

/** Hears what happens in the gateway, as long as the component is there. All of a page share one stream, of the topics that are wanted. */
export function useLive<Event>(topic: LiveTopic, listen: (event: Event) => void, enabled = true): void {
  const current = useRef(listen);
  current.current = listen;
  useEffect(() => {
    if (!enabled) return;
    const listener: Listener = (event) => current.current(event as Event);
    listeners[topic].add(listener);
    plan();
    return () => {
      listeners[topic].delete(listener);
      plan();
    };
  }, [topic, enabled]);
}

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
  if (topics === topicsOfSource) return;
  topicsOfSource = topics;
  source?.close();
  isLive.set(false);
  source = topics === '' ? null : open(wanted, topics);
}

/** The browser itself connects again, and says by `Last-Event-ID` what it heard last. */
function open(wanted: readonly LiveTopic[], topics: string): EventSource {
  const opened = new EventSource(urlOf('/live', { topics }));
  opened.onopen = () => isLive.set(true);
  opened.onerror = () => isLive.set(false);
  for (const topic of wanted)
    opened.addEventListener(topic, ({ data }: MessageEvent<string>) => {
      const event: unknown = JSON.parse(data);
      for (const listener of listeners[topic]) listener(event);
    });
  return opened;
}
