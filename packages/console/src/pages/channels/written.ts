import type { ChannelView, PresetView } from '@headgate/gateway/console';

/** The members of a channel as forms have them: all text. */
export interface WrittenForm extends Record<string, string | boolean> {
  baseUrl: string;
  keptIn: string;
  secret: string;
  place: string;
  alias: string;
  listed: string;
  priority: string;
  maxConcurrency: string;
  hangUp: string;
  proxy: string;
  headers: string;
  connect: string;
  firstContent: string;
  stall: string;
  total: string;
  allowPrivate: boolean;
}

const emptyForm: WrittenForm = {
  ...{
    baseUrl: '',
    keptIn: 'sealed',
    secret: '',
    place: '',
    alias: '',
    listed: '',
    priority: '',
    maxConcurrency: '',
  },
  ...{ hangUp: '', proxy: '', headers: '', connect: '', firstContent: '', stall: '', total: '' },
  allowPrivate: false,
};

type Written = ChannelView['written'];

/** The options of a channel, as the API takes them; null takes one back to what holds where nothing is said. */
export function optionsOf(form: WrittenForm): Written {
  const timeouts = Object.fromEntries(
    (['connect', 'firstContent', 'stall', 'total'] as const).flatMap((name) =>
      form[name].trim() === '' ? [] : [[name, form[name].trim()]],
    ),
  );
  const headers = Object.fromEntries(
    linesOf(form.headers).map((line) => {
      const at = line.indexOf(':');
      return at < 0
        ? [line, '']
        : [line.slice(0, at).trim().toLowerCase(), plainOrPlace(line.slice(at + 1).trim())];
    }),
  );
  return {
    baseUrl: textOf(form.baseUrl),
    alias: textOf(form.alias),
    listed: form.listed === '' ? null : form.listed === 'true',
    priority: numberOf(form.priority),
    maxConcurrency: numberOf(form.maxConcurrency),
    hangUp: textOf(form.hangUp),
    allowPrivate: form.allowPrivate || null,
    proxy: proxyOf(form.proxy.trim()),
    headers: Object.keys(headers).length === 0 ? null : headers,
    timeouts: Object.keys(timeouts).length === 0 ? null : timeouts,
  };
}

/** The place of the credential; nothing where the store is to keep it, or the usual variable has it. */
export function credentialOf({ keptIn, place }: WrittenForm): Written {
  if (keptIn === 'environment' || keptIn === 'file') return { credential: { [keptIn]: place.trim() } };
  return keptIn === 'command' ? { credential: { command: linesOf(place) } } : {};
}

/** A form of what is written of a channel. */
export function formOf(written: Written): WrittenForm {
  const text = (name: string) => wordOf(written[name]);
  const timeouts = recordOf(written['timeouts']);
  const headers = Object.entries(recordOf(written['headers']));
  const form = { ...emptyForm, keptIn: '' };
  for (const name of ['baseUrl', 'alias', 'priority', 'maxConcurrency', 'hangUp'] as const)
    form[name] = text(name);
  for (const name of ['connect', 'firstContent', 'stall', 'total'] as const)
    form[name] = wordOf(timeouts[name]);
  const { proxy } = written;
  return {
    ...form,
    proxy: typeof proxy === 'object' && proxy !== null ? JSON.stringify(proxy) : wordOf(proxy),
    headers: headers.map(([name, value]) => `${name}: ${wordOf(value) || JSON.stringify(value)}`).join('\n'),
    allowPrivate: written['allowPrivate'] === true,
    listed: typeof written['listed'] === 'boolean' ? String(written['listed']) : '',
  };
}

/** The address of a provider with its gaps as they are, for a person to fill in. */
export function startOf(preset: PresetView): WrittenForm {
  const hasGaps = preset.gaps.length > 0;
  return {
    ...emptyForm,
    baseUrl: hasGaps ? preset.baseUrl : '',
    keptIn: preset.credential.scheme === 'none' ? '' : 'sealed',
    place: preset.environment[0] ?? '',
  };
}

export function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

/** Without members that say nothing: a draft has no null. */
export function withoutNull(members: Written): Written {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null));
}

/** A secret that a header or a proxy has is named by its place, as in `{"environment":"NAME"}`. */
function plainOrPlace(text: string): unknown {
  return text.startsWith('{') ? (parsed(text) ?? text) : text;
}

function proxyOf(text: string): unknown {
  return text === '' ? null : plainOrPlace(text);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function textOf(text: string): string | null {
  return text.trim() === '' ? null : text.trim();
}

/** Text that is no number goes as it is: the API says why it is wrong. */
function numberOf(text: string): number | string | null {
  const given = textOf(text);
  return given === null ? null : /^\d+$/.test(given) ? Number(given) : given;
}

function wordOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
