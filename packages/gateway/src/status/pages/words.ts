import type { KnownState, PublicWords, StatusFacts } from '../../ports/status.ts';
import type { ShownState } from '../board.ts';

export type PageLanguage = 'en' | 'zh';

/** Everything that the page says, in one language. */
export interface PageWords {
  readonly tag: 'en' | 'zh-CN';
  /** The name of this language, for those who look for it. */
  readonly ownName: string;
  readonly title: string;
  readonly states: Readonly<Record<ShownState, string>>;
  readonly headlines: Readonly<Record<ShownState, string>>;
  readonly sections: Readonly<
    Record<
      'models' | 'channels' | 'gateway' | 'now' | 'work' | 'past' | 'measured' | 'silent' | 'siblings',
      string
    >
  >;
  readonly asOf: (time: string) => string;
  readonly simulated: string;
  readonly daysAgo: string;
  readonly today: string;
  readonly hoursAgo: string;
  readonly now: string;
  readonly lastDay: string;
  readonly succeeded: (share: string) => string;
  readonly failed: (share: string) => string;
  readonly nothing: string;
  readonly byProbes: string;
  readonly firstContent: (p50: string, p95: string) => string;
  readonly minutesIn: (state: string, time: string) => string;
  readonly noIncidents: string;
  readonly noModels: string;
  readonly incidentTitle: (state: string, labels: string) => string;
  readonly andOthers: (label: string, others: number) => string;
  readonly resolved: (time: string) => string;
  readonly since: (time: string) => string;
  readonly recovered: (label: string) => string;
  readonly gone: (label: string) => string;
  readonly said: (label: string, state: KnownState, facts: StatusFacts | null, share: string) => string;
  readonly slow: (p95: string, usual: string) => string;
  readonly operator: string;
  readonly phases: Readonly<Record<'planned' | 'running' | 'done', string>>;
  readonly everything: string;
  readonly overhead: string;
  readonly overheadIs: (p50: string, p99: string) => string;
  readonly allCalls: string;
  readonly how: readonly string[];
  readonly json: string;
  readonly feed: string;
  readonly utc: string;
  readonly barsLabel: (label: string, share: string) => string;
  readonly eachDay: string;
  readonly chartLabel: (label: string) => string;
  readonly legend: readonly [string, string, string];
  readonly duration: (minutes: number) => string;
}

const en: PageWords = {
  tag: 'en',
  ownName: 'English',
  title: 'Status',
  states: {
    operational: 'Operational',
    degraded: 'Degraded',
    partial: 'Partial outage',
    outage: 'Outage',
    unknown: 'No data',
    maintenance: 'Maintenance',
  },
  headlines: {
    operational: 'All models are operational',
    degraded: 'Some models are degraded',
    partial: 'Some models are failing',
    outage: 'Most models are failing',
    unknown: 'Nothing has been measured lately',
    maintenance: 'Maintenance is under way',
  },
  sections: {
    models: 'Models',
    channels: 'Channels',
    gateway: 'The gateway itself',
    now: 'Open incidents',
    work: 'Maintenance',
    past: 'Past incidents',
    measured: 'How it is measured',
    silent: 'Models without measurements',
    siblings: 'Other deployments',
  },
  asOf: (time) => `As of ${time}`,
  simulated: 'Simulated: the models of this deployment are made up, and so is most of what is measured here.',
  daysAgo: '90 days ago',
  today: 'Today',
  hoursAgo: '24 hours ago',
  now: 'Now',
  lastDay: 'Last 24 hours',
  succeeded: (share) => `${share} of calls succeeded`,
  failed: (share) => `${share} of calls failed`,
  nothing: 'no data',
  byProbes: 'measured by probes',
  firstContent: (p50, p95) => `first content: p50 ${p50}, p95 ${p95}`,
  minutesIn: (state, time) => `${state.toLowerCase()} for ${time}`,
  noIncidents: 'No incidents in the last 90 days.',
  noModels: 'There are no models to show yet.',
  incidentTitle: (state, labels) => `${state}: ${labels}`,
  andOthers: (label, others) => `${label} and ${others} ${others === 1 ? 'other' : 'others'}`,
  resolved: (time) => `Resolved after ${time}`,
  since: (time) => `For ${time} so far`,
  recovered: (label) => `${label} has recovered.`,
  gone: (label) => `${label} is not measured any more.`,
  said: (label, state, facts, share) => {
    const what = {
      operational: 'is well',
      degraded: 'is degraded',
      partial: 'fails in part',
      outage: 'fails',
    }[state];
    return `${label} ${what}${facts === null ? '' : `: ${share} of ${facts.isProbed ? 'calls and probes' : 'calls'} succeeded`}.`;
  },
  slow: (p95, usual) => ` First content took ${p95} (p95); ${usual} is usual.`,
  operator: 'Operator',
  phases: { planned: 'Planned', running: 'Under way', done: 'Done' },
  everything: 'Everything',
  overhead: "The gateway's own time per call",
  overheadIs: (p50, p99) => `p50 ${p50} · p99 ${p99}`,
  allCalls: 'All calls of the last 24 hours',
  how: [
    'From real calls, in cells of five minutes. What a caller got wrong, its own limits, and callers who left are not counted.',
    'A call that another channel saved counts as good for its model and as bad for the channel that failed.',
    'Where fewer than 20 calls came in five minutes, probes that ask for one token take the same way and are counted too.',
    'Operational: 99.5 % or more succeed. Degraded: 95 % or more, or first content takes (p95) more than twice as long as in the seven days before. Partial outage: 50 % or more. Outage: less.',
    'Two cells in a row lead into a worse state, three lead out of it. Where nothing was measured, nothing is claimed: that is grey.',
    'Incidents open and close themselves from these measurements; nothing in them is changed later. Operators may add words.',
  ],
  json: 'JSON',
  feed: 'Atom feed',
  utc: 'All times are UTC.',
  barsLabel: (label, share) => `${label}, the last 90 days: ${share}`,
  eachDay: 'Each day in words',
  chartLabel: (label) => `${label}, the last 24 hours: time to first content and share of failed calls`,
  legend: ['First content, p50', 'First content, p95', 'Failed calls'],
  duration: (minutes) =>
    minutes < 60
      ? `${minutes} min`
      : minutes < 1440
        ? `${Math.floor(minutes / 60)} h${minutes % 60 === 0 ? '' : ` ${minutes % 60} min`}`
        : `${Math.floor(minutes / 1440)} d${Math.floor((minutes % 1440) / 60) === 0 ? '' : ` ${Math.floor((minutes % 1440) / 60)} h`}`,
};

const zh: PageWords = {
  tag: 'zh-CN',
  ownName: '中文',
  title: '服务状态',
  states: {
    operational: '正常',
    degraded: '性能下降',
    partial: '部分中断',
    outage: '中断',
    unknown: '无数据',
    maintenance: '维护中',
  },
  headlines: {
    operational: '所有模型运行正常',
    degraded: '部分模型性能下降',
    partial: '部分模型出现故障',
    outage: '多数模型出现故障',
    unknown: '近期没有测量数据',
    maintenance: '正在维护',
  },
  sections: {
    models: '模型',
    channels: '渠道',
    gateway: '网关自身',
    now: '当前事件',
    work: '计划维护',
    past: '历史事件',
    measured: '测量方法',
    silent: '暂无测量数据的模型',
    siblings: '其他部署',
  },
  asOf: (time) => `截至 ${time}`,
  simulated: '模拟环境：此部署的模型是虚构的，此处的大部分测量数据也是模拟的。',
  daysAgo: '90 天前',
  today: '今天',
  hoursAgo: '24 小时前',
  now: '现在',
  lastDay: '最近 24 小时',
  succeeded: (share) => `${share} 的调用成功`,
  failed: (share) => `${share} 的调用失败`,
  nothing: '无数据',
  byProbes: '由探测得出',
  firstContent: (p50, p95) => `首个内容：p50 ${p50}，p95 ${p95}`,
  minutesIn: (state, time) => `${state} ${time}`,
  noIncidents: '最近 90 天没有事件。',
  noModels: '暂无可显示的模型。',
  incidentTitle: (state, labels) => `${state}：${labels}`,
  andOthers: (label, others) => `${label} 等 ${others + 1} 项`,
  resolved: (time) => `历时 ${time}后恢复`,
  since: (time) => `已持续 ${time}`,
  recovered: (label) => `${label} 已恢复。`,
  gone: (label) => `${label} 不再被测量。`,
  said: (label, state, facts, share) => {
    const what = { operational: '正常', degraded: '性能下降', partial: '部分失败', outage: '失败' }[state];
    return `${label} ${what}${facts === null ? '' : `：${share} 的${facts.isProbed ? '调用与探测' : '调用'}成功`}。`;
  },
  slow: (p95, usual) => `首个内容耗时 ${p95}（p95），平时为 ${usual}。`,
  operator: '运营方',
  phases: { planned: '已计划', running: '进行中', done: '已完成' },
  everything: '全部',
  overhead: '网关自身每次调用的耗时',
  overheadIs: (p50, p99) => `p50 ${p50} · p99 ${p99}`,
  allCalls: '最近 24 小时的全部调用',
  how: [
    '依据真实调用，以五分钟为一个单元。调用方的错误、调用方自身的限额以及调用方提前离开不计入。',
    '由其他渠道补救成功的调用，对模型计为成功，对失败的渠道计为失败。',
    '五分钟内少于 20 次调用时，会沿同一路径发送只请求一个 token 的探测，并一并计入。',
    '正常：成功率不低于 99.5 %。性能下降：不低于 95 %，或首个内容耗时（p95）超过此前七天的两倍。部分中断：不低于 50 %。中断：低于 50 %。',
    '连续两个单元变差才进入更差的状态，连续三个单元好转才离开。没有测量数据时不作判断，显示为灰色。',
    '事件由这些测量自动开启和关闭，之后不再更改。运营方可以补充说明。',
  ],
  json: 'JSON',
  feed: 'Atom 订阅',
  utc: '所有时间均为 UTC。',
  barsLabel: (label, share) => `${label}，最近 90 天：${share}`,
  eachDay: '每日详情',
  chartLabel: (label) => `${label}，最近 24 小时：首个内容耗时与失败调用占比`,
  legend: ['首个内容 p50', '首个内容 p95', '失败的调用'],
  duration: (minutes) =>
    minutes < 60
      ? `${minutes} 分钟`
      : minutes < 1440
        ? `${Math.floor(minutes / 60)} 小时${minutes % 60 === 0 ? '' : ` ${minutes % 60} 分钟`}`
        : `${Math.floor(minutes / 1440)} 天${Math.floor((minutes % 1440) / 60) === 0 ? '' : ` ${Math.floor((minutes % 1440) / 60)} 小时`}`,
};

export const pageWords: Readonly<Record<PageLanguage, PageWords>> = { en, zh };

/** Cut, not rounded: what is not all is never called 100 %. */
export function percent(share: number | null, { nothing }: PageWords): string {
  if (share === null) return nothing;
  if (share === 0 || share === 1) return `${share * 100} %`;
  return `${(Math.floor(share * 10_000 + 1e-6) / 100).toFixed(2)} %`;
}

export function milliseconds(ms: number | null, { nothing }: PageWords): string {
  if (ms === null) return nothing;
  return ms < 1
    ? `${Math.round(ms * 1000)} µs`
    : ms < 1000
      ? `${Math.round(ms)} ms`
      : `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`;
}

/** Both languages of an operator's words are seldom there: better another one than none. */
export function wordsIn(words: PublicWords, language: PageLanguage): string {
  return words[language] ?? words.en ?? words.zh ?? '';
}
