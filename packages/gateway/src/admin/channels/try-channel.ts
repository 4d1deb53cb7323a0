import { smallestProtocol } from '@headgate/protocols';
import type { BuiltCatalogue } from '../../catalogue/build.ts';
import type { Channel, Credential } from '../../catalogue/catalogue.ts';
import type { ChannelWish } from '../../ports/configuration-store.ts';
import type { Upstream } from '../../ports/upstream.ts';
import { askChannel, type ChannelTest, detailOf } from '../channel-test.ts';
import { type ConnectionCause, connectionCauses } from '../connection-causes.ts';
import {
  type DiscoveredModel,
  type DiscoveryTools,
  discoverModels,
  listedNames,
} from './discovered-models.ts';

export interface TrialTools extends DiscoveryTools {
  readonly upstream: Upstream;
  /** The channel as it would be, with its secrets as they are now. */
  readonly sketch: (channel: ChannelWish['channel']) => Promise<BuiltCatalogue>;
  readonly timeoutMs: number;
}

/** One thing that a channel was asked for, with one credential. */
export interface TrialStep extends Omit<ChannelTest, 'channelId' | 'credentialId' | 'detail' | 'model'> {
  /** Null where it needs none, or has none yet. */
  readonly credential: string | null;
  /** As the upstream names it; null where no model was asked. */
  readonly model: string | null;
  /** The words for the cause, and how to mend it; null when it works. */
  readonly words: string | null;
  readonly fix: string | null;
}

export interface ChannelTrial {
  readonly works: boolean;
  readonly steps: readonly TrialStep[];
  /** The upstream lists these, where it was asked for that and answered. */
  readonly models: readonly DiscoveredModel[];
}

/** A trial asks for the list of models always, where there is one, and a model for one token where it is named. */
export interface TrialWish {
  /** As the upstream names it. */
  readonly model: string | null;
}

/** Tries a channel that is not declared, with a secret that is not kept. */
export async function tryWish(
  { channel }: ChannelWish,
  secret: string | null,
  wish: TrialWish,
  tools: TrialTools,
): Promise<ChannelTrial> {
  const { catalogue, problems } = await tools.sketch(channel);
  const sketched = catalogue.channels.get(channel.id);
  if (sketched === undefined) return failed('address-incomplete', problems[0]?.detail ?? null);
  const given = secret === null ? sketched.credentials : [{ id: 'secret', secret }];
  return tryChannel({ ...sketched, credentials: given }, wish, tools);
}

/** Tries a channel with each of its credentials. */
export async function tryChannel(
  channel: Channel,
  wish: TrialWish,
  tools: TrialTools,
): Promise<ChannelTrial> {
  const { provider, credentials } = channel;
  if (/\{\w+\}/.test(channel.baseUrl)) return failed('address-incomplete', channel.baseUrl);
  const needsCredential = provider.credential.scheme !== 'none';
  if (needsCredential && credentials.length === 0) return failed('credential-missing', null);
  const steps: TrialStep[] = [];
  let names: readonly string[] = [];
  let works = true;
  for (const credential of needsCredential ? credentials : [null]) {
    const found = await tryWith(channel, credential, wish, tools);
    steps.push(...found.steps);
    // A list is a help, and where a call was made that counts.
    works = works && found.steps.at(-1)?.works === true;
    if (names.length === 0) names = found.names;
  }
  const models = await discoverModels(provider, names, tools);
  return { works, steps, models };
}

async function tryWith(
  channel: Channel,
  credential: Credential | null,
  { model }: TrialWish,
  { upstream, catalogue, timeoutMs }: TrialTools,
): Promise<{ readonly steps: readonly TrialStep[]; readonly names: readonly string[] }> {
  const ask = (upstreamModel: string, call: boolean) => {
    const facts = catalogue.models().find(channel.provider.id, upstreamModel);
    return askChannel(upstream, { channel, upstreamModel, facts }, credential, { call, timeoutMs });
  };
  const steps: TrialStep[] = [];
  let names: readonly string[] = [];
  // The smallest call for an image costs too much to be made for a test.
  const called = smallestProtocol(channel.provider.protocols) === null ? null : model;
  if (channel.provider.modelsPath !== null || called === null) {
    const { test, body } = await ask(model ?? '', false);
    const listed = test.works && test.asked === 'models' ? listedNames(body) : [];
    steps.push(listed === null ? notAList(test) : stepOf(test));
    names = listed ?? [];
    // Whoever is turned away for its name is turned away by its models too, and asking them may cost.
    if (isFinal(test.cause)) return { steps, names };
  }
  if (called !== null) steps.push(stepOf((await ask(called, true)).test));
  return { steps, names };
}

/** A list of models may be missing or closed where calls work: all else says the same of a call. */
function isFinal(cause: ConnectionCause | null): boolean {
  const open: readonly (ConnectionCause | null)[] = [
    null,
    'not-found',
    'forbidden',
    'protocol',
    'web-page',
    'model-not-found',
  ];
  return !open.includes(cause);
}

function stepOf({ channelId: _, credentialId, detail: __, model, ...test }: ChannelTest): TrialStep {
  const { words = null, fix = null } = test.cause === null ? {} : connectionCauses[test.cause];
  return { ...test, credential: credentialId, model: test.asked === 'call' ? model : null, words, fix };
}

function notAList(test: ChannelTest): TrialStep {
  const cause = 'protocol';
  const said = 'the answer has no list of models in it';
  return stepOf({ ...test, works: false, cause, said, detail: detailOf(cause, said, '') });
}

/** Found before anything was asked. */
function failed(cause: ConnectionCause, said: string | null): ChannelTrial {
  const test = { asked: 'address', works: false, status: null, durationMs: 0 } as const;
  const step = { ...test, cause, said, credential: null, model: null, ...connectionCauses[cause] };
  return { works: false, steps: [step], models: [] };
}
