import type { EventSink } from '../../ports/events.ts';
import type { Logger } from '../../telemetry/logger.ts';
import type { SettingLeftOut } from './layered-settings.ts';
import type { RunningSettings } from './running-settings.ts';

/** A value of the store that is not followed, as operators hear of it. */
export function leftOutAlert({ name: setting, reason }: SettingLeftOut): Parameters<EventSink['raise']> {
  return ['setting-left-out', { setting, reason }];
}

/** Tells of values of the store that are not followed, now and whenever the store has others, and of those that are again. */
export function tellLeftOut(
  running: Pick<RunningSettings, 'leftOut' | 'onChange'>,
  logger: Pick<Logger, 'warn'>,
  events: EventSink,
): void {
  let told: readonly SettingLeftOut[] = [];
  const tell = (): void => {
    const { leftOut } = running;
    const isIn = (list: typeof told, { name }: SettingLeftOut) => list.some((each) => each.name === name);
    for (const each of told)
      if (!isIn(leftOut, each)) events.over('setting-left-out', { setting: each.name });
    for (const each of leftOut) {
      if (isIn(told, each)) continue;
      logger.warn(`the setting ${each.name} of the console is left out: ${each.reason}`);
      events.raise(...leftOutAlert(each));
    }
    told = leftOut;
  };
  tell();
  running.onChange(tell);
}
