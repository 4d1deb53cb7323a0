import type { Choice, LeftOut } from '../../core/route/choice/considered.ts';

/** Why a target is left out, for operators; in at most 34 characters, so that it fits a column. */
export const exclusionWords: Readonly<Record<LeftOut, string>> = {
  disabled: 'off, or cannot take such a call',
  'not-allowed': 'not a channel of the group',
  lacks: 'lacks what the call needs',
  context: 'too small for so long a call',
  drained: 'drained by the operator',
  elsewhere: 'does not know the earlier answer',
  tried: 'tried by this call already',
  credential: 'its credential is refused',
  'model-missing': 'does not know the model',
  full: 'has all the calls it is allowed',
  blocked: 'rate limited',
  'no-headroom': 'too little left of its rate limit',
  capped: 'gets as many calls as it takes',
  open: 'out of service after failures',
  probing: 'out of service, a probe is out',
  due: 'out of service, due for a probe',
  failing: 'failed last, as everything does',
  overdue: 'owes answers',
};

/** Why the first one is the first one. */
export const choiceWords: Readonly<Record<Choice, string>> = {
  score: 'drawn by the shares of the scores',
  pinned: 'drawn among those that may know the earlier answer',
  probe: 'its time out of service is over, and one call shows whether it is back',
  exploration: 'not asked for a while, and cheap enough to be asked once',
  hedge: 'the best by score, beside one that was silent',
  panic: 'everything is out of service: what is soonest to recover is tried all the same',
  withheld: 'what is left is doubtful, and the budget for such attempts is spent',
  nothing: 'no channel may be asked',
};
