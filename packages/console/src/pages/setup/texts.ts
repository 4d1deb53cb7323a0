import type { Texts } from '../../app/texts.ts';

export const en = {
  title: 'Set up this gateway',
  operatorDetail: 'The first operator: sees and changes everything, and invites others.',
  name: 'Your name',
  login: 'E-mail or name to sign in with',
  continue: 'Continue',
  linkTitle: 'This link does nothing any more',
  linkDetail: 'It was used, or is older than a day. The next start of the gateway prints another one.',
  noLinkTitle: 'Open the link that was printed',
  noLinkDetail: 'The start of the gateway prints a link to this page, good for a day.',
  setUpTitle: 'This gateway is set up',
  setUpDetail: 'Sign in to go on.',
  toSignIn: 'Go to sign-in',
};

export const zh: Texts<typeof en> = {
  title: '设置此网关',
  operatorDetail: '第一位管理员：可查看并修改一切，并可邀请他人。',
  name: '您的姓名',
  login: '用于登录的邮箱或用户名',
  continue: '继续',
  linkTitle: '此链接已失效',
  linkDetail: '它已被使用，或超过一天。网关下次启动时会打印新的链接。',
  noLinkTitle: '请打开启动时打印的链接',
  noLinkDetail: '网关启动时会打印指向此页面的链接，一天内有效。',
  setUpTitle: '此网关已完成设置',
  setUpDetail: '请登录以继续。',
  toSignIn: '前往登录',
};
