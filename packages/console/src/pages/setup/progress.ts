import type { ChannelPage, KeyPage } from '@headgate/gateway/console';
import { useGet } from '../../api/hooks.ts';
import { recall, remember } from '../../app/tab-storage.ts';

/** The way from a new gateway to its first call. */
export const stepNames = ['operator', 'channel', 'key', 'call'] as const;
export type StepName = (typeof stepNames)[number];

const listLimit = 200;

/** Keys that come with a start by itself are nobody's first key. */
const ownSources: readonly string[] = ['demo', 'environment'];

/** The steps that are done, whoever did them: it is read off what the gateway has, so a visit goes on where another ended. */
export function useProgress(isSignedIn: boolean) {
  const channels = useGet<ChannelPage>('/channels', { limit: listLimit }, { enabled: isSignedIn });
  const keys = useGet<KeyPage>('/keys', { limit: listLimit }, { enabled: isSignedIn });
  const real = channels.data?.items.filter(({ simulated }) => !simulated) ?? [];
  const made = keys.data?.items.filter(({ source }) => !ownSources.includes(source)) ?? [];
  const done: Readonly<Record<StepName, boolean>> = {
    operator: isSignedIn,
    channel: real.length > 0,
    key: made.length > 0,
    call: made.some(({ lastUsedAt }) => lastUsedAt !== null),
  };
  return {
    done,
    isKnown: isSignedIn && channels.data !== undefined && keys.data !== undefined,
    problem: channels.error ?? keys.error,
    retry: () => void Promise.all([channels.refetch(), keys.refetch()]),
    channelNames: real.map(({ id }) => id),
    keyNames: made.map(({ name }) => name),
    hasSimulated: (channels.data?.items.length ?? 0) > real.length,
  };
}

/** Steps that were put off stay so as long as the tab is open. */
export function skippedSteps(): readonly string[] {
  return recall('setup.skipped')?.split(',') ?? [];
}

export function skipStep(name: StepName): void {
  remember('setup.skipped', [...new Set([...skippedSteps(), name])].join(','));
}
