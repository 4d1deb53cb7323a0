import { describe } from 'vitest';
import { describeAnswers } from './describe-answers.ts';
import { describeConnections } from './describe-connections.ts';
import { describeFailures } from './describe-failures.ts';
import { describeFlow } from './describe-flow.ts';
import { describeGuard } from './describe-guard.ts';
import { describeTls } from './describe-tls.ts';
import type { OpenClient } from './workbench.ts';

/** Holds an implementation of `ports/upstream.ts` to what that promises, over real sockets. */
export function describeUpstreamClient(name: string, open: OpenClient): void {
  describe(name, () => {
    describe('answers', () => describeAnswers(open));
    describe('connections', () => describeConnections(open));
    describe('failures', () => describeFailures(open));
    describe('flow', () => describeFlow(open));
    describe('address guard', () => describeGuard(open));
    describe('TLS', () => describeTls(open));
  });
}
