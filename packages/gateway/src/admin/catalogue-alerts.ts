import type { AlertDetail, AlertKind } from '../catalogue/alert-kinds.ts';
import type { CatalogueProblem } from '../catalogue/build.ts';
import type { EventSink } from '../ports/events.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { ChannelStatus } from './channel-status.ts';

type Alert = [AlertKind, AlertDetail];

interface Listeners {
  readonly logger: Logger;
  readonly alerts: EventSink;
}

/** A catalogue may have thousands of models without a price: beyond this, each is told of by its first call. */
const unpricedMax = 100;

/** Tells the operator what is missing now and was not before, and of what is not missing any more. */
export function tellProblems(
  { logger, alerts }: Listeners,
  problems: readonly CatalogueProblem[],
  known: readonly CatalogueProblem[],
): void {
  const name = ({ kind, subject, detail }: CatalogueProblem) => [kind, subject, detail].join('\n');
  const old = new Set(known.map(name));
  let unpriced = 0;
  for (const problem of problems) {
    if (old.has(name(problem))) continue;
    const { kind, subject, detail } = problem;
    logger.warn(`${subject}: ${detail}`, { alert: kind });
    if (kind === 'unpriced-model') unpriced++;
    if (kind !== 'unpriced-model' || unpriced <= unpricedMax) alerts.raise(...alertOf(problem));
  }
  const missing = new Set(problems.map(({ kind, subject }) => `${kind} ${subject}`));
  const back = known.filter(({ kind, subject }) => !missing.has(`${kind} ${subject}`));
  for (const [, [problem]] of Map.groupBy(back, ({ kind, subject }) => `${kind} ${subject}`)) {
    if (problem === undefined) continue;
    alerts.over(...alertOf(problem));
    if (problem.kind === 'missing-credential')
      logger.info('no credential of the channel is missing any more', { channelId: problem.subject });
  }
}

/** A problem in the words of alerts. */
function alertOf({ kind, subject, detail: reason }: CatalogueProblem): Alert {
  switch (kind) {
    case 'missing-credential':
      return [kind, { channel: subject, reason }];
    case 'unpriced-model':
      return [kind, { model: subject, reason }];
    case 'webhook-without-secret':
      return ['configuration-incomplete', { subject: `webhook:${subject}`, problem: kind, reason }];
    case 'orphan-key':
      return ['configuration-incomplete', { subject: `key:${subject}`, problem: kind, reason }];
    case 'rough-discount':
      return ['configuration-incomplete', { subject: `account:${subject}`, problem: kind, reason }];
    case 'unknown-provider':
    case 'incomplete-address':
      return ['configuration-incomplete', { subject: `channel:${subject}`, problem: kind, reason }];
    default:
      return kind satisfies never;
  }
}

/** The channels that lack a credential, each once for every one. */
export function channelsWithoutCredential(problems: readonly CatalogueProblem[]): readonly string[] {
  return problems.flatMap(({ kind, subject }) => (kind === 'missing-credential' ? [subject] : []));
}

/** The alerts that would be raised if everything were looked at anew. */
export function standingAlerts(
  problems: readonly CatalogueProblem[],
  channels: readonly ChannelStatus[],
): readonly Alert[] {
  const out = channels.flatMap(({ id: channel, models }) =>
    models.flatMap(({ state, upstreamModel: model }): readonly Alert[] =>
      state === 'serving' ? [] : [['channel-out-of-service', { channel, model }]],
    ),
  );
  return [...problems.map(alertOf), ...out];
}
