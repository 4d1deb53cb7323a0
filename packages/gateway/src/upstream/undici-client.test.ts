import { describeUpstreamClient } from './contract/describe-upstream-client.ts';
import { openUndiciClient } from './undici-client.ts';

describeUpstreamClient('undici', openUndiciClient);
