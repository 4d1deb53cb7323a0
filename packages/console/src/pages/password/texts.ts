import type { Texts } from '../../app/texts.ts';

export const en = {
  title: 'New password',
  detail: 'For {{name}} ({{login}}). All sessions end when you set it.',
  password: 'New password',
  hint: 'At least {{least}} characters; a sentence is a good one.',
  short: 'Too short: {{missing}} more characters are needed.',
  repeat: 'The same once more',
  different: 'These are not the same.',
  set: 'Set password',
  goneTitle: 'This link does nothing any more',
  goneDetail: 'It was used, or its time is over. Ask for another one.',
  toSignIn: 'Go to sign-in',
  doneTitle: 'Your password is set',
  doneDetail: 'Sign in with it now.',
};

export const zh: Texts<typeof en> = {
  title: '新密码',
  detail: '为 {{name}}（{{login}}）设置。设置后所有会话都会结束。',
  password: '新密码',
  hint: '至少 {{least}} 个字符；一句话就很好。',
  short: '太短：还需要 {{missing}} 个字符。',
  repeat: '再次输入',
  different: '两次输入不一致。',
  set: '设置密码',
  goneTitle: '此链接已失效',
  goneDetail: '它已被使用或已过期。请索取新的链接。',
  toSignIn: '前往登录',
  doneTitle: '密码已设置',
  doneDetail: '现在请用新密码登录。',
};
