import { z } from 'zod';
import { timeText } from './common.ts';

const parts = z.strictObject({
  pricePicoUsd: z.number(),
  waitingPicoUsd: z.number(),
  failurePicoUsd: z.number(),
  breakagePicoUsd: z.number(),
  slowStartPicoUsd: z.number(),
});

/** The route that a call would take now. */
export const routePlanView = z
  .strictObject({
    key: z.strictObject({ id: z.string(), name: z.string() }),
    group: z.string(),
    preset: z.string(),
    model: z.string(),
    surface: z.string(),
    stream: z.boolean(),
    inputTokens: z.int(),
    maxOutputTokens: z.int().nullable(),
    choice: z.string(),
    because: z.string(),
    translated: z.record(z.string(), z.array(z.string())),
    order: z.array(z.string()).meta({ description: 'Channels in the order in which they would be asked.' }),
    candidates: z.array(
      z.strictObject({
        channel: z.string(),
        upstreamModel: z.string(),
        tier: z.int(),
        share: z.number(),
        chance: z.number(),
        waitMs: z.number(),
        expectedCostPicoUsd: z.number(),
        costKnown: z.boolean(),
        parts,
      }),
    ),
    exclusions: z.array(
      z.strictObject({
        channel: z.string(),
        upstreamModel: z.string(),
        reason: z.string(),
        because: z.string(),
        until: timeText.nullable(),
      }),
    ),
    warnings: z.array(z.string()),
  })
  .meta({ id: 'RoutePlanView' });
export type RoutePlanView = z.infer<typeof routePlanView>;

/** The routes of a call that was made. */
export const pastRouteView = z
  .strictObject({
    traceId: z.string(),
    startedAt: timeText,
    status: z.string(),
    key: z.string(),
    group: z.string(),
    model: z.string(),
    plans: z.array(
      z.strictObject({
        attemptsBefore: z.int(),
        choice: z.string(),
        because: z.string(),
        first: z.string().nullable(),
        protocol: z.string().nullable(),
        candidateCount: z.int(),
        candidates: z.array(
          z.strictObject({
            channel: z.string(),
            upstreamModel: z.string(),
            tier: z.int(),
            share: z.number(),
            chance: z.number(),
            expectedCostPicoUsd: z.number(),
          }),
        ),
        exclusions: z.array(
          z.strictObject({
            reason: z.string(),
            because: z.string(),
            count: z.int(),
            channels: z.array(z.string()),
          }),
        ),
      }),
    ),
    attempts: z.array(
      z.strictObject({
        n: z.int(),
        channel: z.string(),
        upstreamModel: z.string(),
        result: z.string(),
        detail: z.string().nullable(),
        httpStatus: z.int().nullable(),
        ttftMs: z.number().nullable(),
        durationMs: z.number(),
        costNanoUsd: z.string().nullable(),
      }),
    ),
  })
  .meta({ id: 'PastRouteView' });
export type PastRouteView = z.infer<typeof pastRouteView>;
