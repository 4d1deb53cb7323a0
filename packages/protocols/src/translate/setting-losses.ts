import { type Fault, fault } from '../error.ts';
import { dropped, type Loss } from '../loss.ts';
import { fail, type Result, succeed } from '../result.ts';
import type { SettingName, Turn } from '../turn.ts';

/**
 * What a target does with a setting: `carried` by its codec (which tells its own changes), `dropped` as a loss, or `refused`
 * because the answer would not be what was asked for.
 */
export type SettingSupport = Readonly<Record<SettingName, 'carried' | 'dropped' | 'refused'>>;

/**
 * The losses of a request's settings at a target. Every codec declares all of them, so that none is forgotten; only what
 * the caller has set counts. A fault where one is refused.
 */
export function settingLosses(turn: Turn, support: SettingSupport): Result<readonly Loss[], Fault> {
  const losses: Loss[] = [];
  for (const name of settingNames(support)) {
    if (support[name] === 'carried' || !isAsked(turn, name)) continue;
    if (support[name] === 'refused') return fail(unsupported(spellingOf(turn, name)));
    losses.push(dropped(spellingOf(turn, name)));
  }
  return succeed(losses);
}

/** The setting as the caller spells it. */
export function spellingOf(turn: Turn, name: SettingName): string {
  return turn.spelling[name] ?? name;
}

/** Something no channel of another protocol can honour. */
export function unsupported(field: string, remedy = 'leave it out'): Fault {
  const message = `'${field}' cannot be honoured by any channel that serves this model now; ${remedy}.`;
  return fault('invalid_request', { message, param: field, upstreamCode: 'unsupported_parameter' });
}

function settingNames(support: SettingSupport): readonly SettingName[] {
  return Object.keys(support) as SettingName[]; // The keys of a record over a closed union are that union.
}

/** Whether the caller asks for anything: the value that says what happens anyway asks for nothing. */
function isAsked({ settings }: Turn, name: SettingName): boolean {
  switch (name) {
    case 'choices':
      return settings.choices !== null && settings.choices !== 1;
    case 'outputFormat':
      return settings.outputFormat !== null && settings.outputFormat.kind !== 'text';
    case 'stop':
      return settings.stop !== null && settings.stop.length > 0;
    case 'presencePenalty':
    case 'frequencyPenalty':
      return settings[name] !== null && settings[name] !== 0;
    case 'parallelToolCalls':
      return settings.parallelToolCalls === false;
    case 'serviceTier':
      return (
        settings.serviceTier !== null && settings.serviceTier !== 'auto' && settings.serviceTier !== 'default'
      );
    default:
      return settings[name] !== null;
  }
}
