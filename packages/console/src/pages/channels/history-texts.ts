import type { ChannelFailureView } from '@headgate/gateway/console';
import type { Texts } from '../../app/texts.ts';

type Kind = ChannelFailureView['kind'];

/** The ways in which an attempt may fail, in a word or two. */
const kinds = {
  'kind.rate-limited': 'Rate limit',
  'kind.credential': 'Credential refused',
  'kind.model-missing': 'Model not known there',
  'kind.overloaded': 'Overloaded',
  'kind.conflict': '408, 409 or 425',
  'kind.server-error': 'Server error',
  'kind.garbled': 'Not of the protocol',
  'kind.blank': 'Empty answer',
  'kind.unreachable': 'No connection',
  'kind.lost': 'Connection lost',
  'kind.connect-timeout': 'No connection in time',
  'kind.silent': 'No content in time',
  'kind.stalled': 'Stopped coming, nothing sent on',
  'kind.stalled-after-content': 'Stopped coming',
  'kind.cut': 'Broke off before content',
  'kind.cut-after-content': 'Broke off',
} as const satisfies Readonly<Partial<Record<`kind.${Kind}`, string>>>;

export const en = {
  ...kinds,
  title: 'Last 24 hours',
  success: 'Success',
  latency: 'Time to first content',
  calls: 'Attempts',
  answered: 'Answered',
  failed: 'Failed',
  errors: 'Errors by kind',
  'errors.none': 'No errors in this time',
  others: 'Others',
  empty: 'No calls in the last 24 hours',
  'empty.text':
    'The charts begin with the first call that is sent here. “Routing” shows which calls would come.',
  failures: 'Last errors',
  'failures.none': 'No errors are known of',
  when: 'When',
  kind: 'Kind',
  model: 'Model',
  words: 'What the upstream said',
  call: 'Call',
  course: 'Success, 24 h',
} as const;

export const zh: Texts<typeof en> = {
  'kind.rate-limited': '限速',
  'kind.credential': '凭证被拒绝',
  'kind.model-missing': '上游没有该模型',
  'kind.overloaded': '过载',
  'kind.conflict': '408、409 或 425',
  'kind.server-error': '服务器错误',
  'kind.garbled': '不符合协议',
  'kind.blank': '空应答',
  'kind.unreachable': '无法连接',
  'kind.lost': '连接丢失',
  'kind.connect-timeout': '连接超时',
  'kind.silent': '首个内容超时',
  'kind.stalled': '停止输出（尚未转发）',
  'kind.stalled-after-content': '停止输出',
  'kind.cut': '内容前中断',
  'kind.cut-after-content': '中途中断',
  title: '最近 24 小时',
  success: '成功率',
  latency: '首个内容时间',
  calls: '尝试次数',
  answered: '成功',
  failed: '失败',
  errors: '错误类型',
  'errors.none': '这段时间没有错误',
  others: '其他',
  empty: '最近 24 小时没有调用',
  'empty.text': '图表从发往此处的第一次调用开始。可在“路由”中查看哪些调用会来这里。',
  failures: '最近错误',
  'failures.none': '没有已知错误',
  when: '时间',
  kind: '类型',
  model: '模型',
  words: '上游的说明',
  call: '调用',
  course: '24 小时成功率',
};

/** The text of a kind; kinds that are no failure of a channel have none, and are shown as they are. */
export function kindText(t: (name: keyof typeof kinds) => string, kind: Kind): string {
  const name = `kind.${kind}`;
  return isKind(name) ? t(name) : kind;
}

function isKind(name: string): name is keyof typeof kinds {
  return Object.hasOwn(kinds, name);
}
