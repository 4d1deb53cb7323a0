import { describe, expect, test } from 'vitest';
import { readConfigurationFile } from './configuration-file.ts';
import { describeProblem } from './yaml-source.ts';

function problemsOf(text: string): readonly string[] {
  const read = readConfigurationFile(text, 'headgate.yaml');
  return read.ok ? [] : read.error.map(describeProblem);
}

describe('the shape of a configuration file', () => {
  test.each(['', '# nothing but a comment\n', '{}'])('%j declares nothing', (text) => {
    expect(problemsOf(text)).toEqual([]);
  });

  test('every mistake is reported at once, with line, column and what was probably meant', () => {
    const text = [
      'deployment:',
      '  nam: x',
      'settings:',
      '  api: { prt: 3, port: [1] }',
      'channels:',
      '  Bad Name: { provider: openai, models: [a] }',
      '  main:',
      '    provder: openai',
      '    models:',
      '      gpt-x: { upstrem: 3 }',
      'groups:',
      '  g: { platform: completion, models: x }',
      'prices:',
      '  m: { inptu: 3 }',
      'modles: {}',
    ].join('\n');
    expect(problemsOf(text).toSorted()).toEqual(
      [
        'headgate.yaml:2:3: deployment.nam: there is no such member; did you mean "name"?',
        'headgate.yaml:4:24: settings.api.port: must be a plain value',
        'headgate.yaml:4:10: settings.api.prt: there is no such member; did you mean "port"?',
        'headgate.yaml:6:3: channels.Bad Name: the name must be lower-case letters, digits, dots, dashes or underscores, 64 at the most',
        'headgate.yaml:8:5: channels.main.provider: is missing; it must be text',
        'headgate.yaml:8:5: channels.main.provder: there is no such member; did you mean "provider"?',
        'headgate.yaml:10:16: channels.main.models.gpt-x.upstrem: there is no such member; did you mean "upstream"?',
        'headgate.yaml:12:18: groups.g.platform: must be completions or messages or native; did you mean "completions"?',
        'headgate.yaml:12:38: groups.g.models: must be a list',
        'headgate.yaml:14:8: prices.m.inptu: there is no such member; did you mean "input"?',
        'headgate.yaml:15:1: modles: there is no such member; did you mean "models"?',
      ].toSorted(),
    );
  });

  test.each([
    ['sk-very-secret', 'must say where the secret is'],
    ['{ environment: A, file: /a }', 'must say where the secret is'],
    ['{}', 'must say where the secret is'],
    ['{ file: secret }', '.file: must be an absolute path such as /run/secrets/name'],
    ['{ command: vault read }', '.command: must be a list'],
    ['{ command: [] }', '.command: '],
    ['{ command: [vault], refresh: 5s }', '.refresh: must be a duration of 10s or more, such as 15m'],
    ['{ environment: A, refresh: 5m }', 'has refresh without command'],
    ['{ variable: A }', '.variable: there is no such member'],
  ])('of the credential %s it is said what is wrong, and never the secret', (credential, reason) => {
    const problems = problemsOf(`channels: { a: { provider: p, models: [m], credential: ${credential} } }`);
    expect(problems[0]).toContain('channels.a.credential');
    expect(problems[0]).toContain(reason);
    expect(problems.join('\n')).not.toContain('very-secret');
  });

  test.each([
    ['headers: { Authorization: x }', 'the name must be the name of a header in lower case'],
    ['headers: { authorization: x }', 'cannot be set'],
    ['headers: { host: x }', 'cannot be set'],
    ['headers: { x-forwarded-for: x }', 'cannot be set'],
    ['headers: { content-type: x }', 'cannot be set'],
    ['headers: { proxy-authorization: canary }', 'cannot be set'],
    ['headers: { x-a: "canary\\r\\nx-b: c" }', 'must be text of plain characters on one line'],
    ['headers: { x-a: { command: [a] } }', '.command: there is no such member'],
    [
      'proxy: http://user:canary@proxy.example',
      'must be the URL of a proxy such as http://proxy.example:3128',
    ],
    ['proxy: socks5://proxy.example', 'must be the URL of a proxy'],
    ['proxy: [http://proxy.example]', 'must be none, a URL such as http://proxy.example:3128'],
    ['proxy: { url: http://proxy.example, password: canary }', '.password: must be { environment: NAME }'],
    ['proxy: { url: http://proxy.example, password: { environment: A } }', 'has a password without a user'],
    ['timeouts: { connect: 5 }', '.connect: must be text'],
    ['timeouts: { total: 2d }', '.total: must be a duration'],
    ['timeouts: { stal: 5s }', 'did you mean "stall"?'],
  ])('the member %s is refused, and what should be secret is not repeated', (member, reason) => {
    const problems = problemsOf(`channels: { a: { provider: p, models: [m], ${member} } }`);
    expect(problems.join('\n')).toContain(reason);
    expect(problems.join('\n')).not.toContain('canary');
  });

  test('syntax errors and repeated members have places too', () => {
    expect(problemsOf('a: [1\nb: 2')).toEqual([expect.stringMatching(/^headgate\.yaml:2:1: /)]);
    expect(problemsOf('groups: {}\ngroups: {}')).toEqual([
      expect.stringMatching(/^headgate\.yaml:2:1: .*unique/),
    ]);
    expect(problemsOf('keys: { a: {}, b: {}, "a": {} }\na: [1')).toEqual([
      expect.stringMatching(/^headgate\.yaml:1:23: .*unique/),
      expect.stringMatching(/^headgate\.yaml:2:/),
    ]);
  });

  test('aliases, merge keys and x- members say what they stand for, to the last digit', () => {
    const text = [
      'x-prices: &cheap { input: 0.10, output: 1.50 }',
      'x-openai: &openai',
      '  provider: openai',
      '  models: { m: { cost: { <<: *cheap, output: 2.50 } } }',
      'channels:',
      '  one: *openai',
      '  two: { <<: [{ priority: 3 }, *openai], alias: Two }',
      'prices:',
      '  m: { <<: *cheap }',
    ].join('\n');
    const file = readConfigurationFile(text, 'headgate.yaml');
    if (!file.ok) throw new Error(file.error.map(describeProblem).join('\n'));
    const { shape, source } = file.value;
    expect(Object.keys(shape).sort()).toEqual(['channels', 'prices']);
    expect(shape.channels?.['two']).toMatchObject({ provider: 'openai', priority: 3, alias: 'Two' });
    expect(source.exactText(['prices', 'm', 'input'])).toBe('0.10');
    const cost = ['channels', 'two', 'models', 'm', 'cost'];
    expect(source.exactText([...cost, 'input'])).toBe('0.10');
    expect(source.exactText([...cost, 'output'])).toBe('2.50');
    expect(source.where([...cost, 'input'])).toBe('headgate.yaml:1:27');
  });

  test('a map with several merge keys has what each of them brings', () => {
    const text = 'x-a: &a { input: 0.10 }\nx-b: &b { output: 2.50 }\nprices:\n  m:\n    <<: *a\n    <<: *b\n';
    const file = readConfigurationFile(text, 'headgate.yaml');
    if (!file.ok) throw new Error(file.error.map(describeProblem).join('\n'));
    expect(file.value.source.exactText(['prices', 'm', 'input'])).toBe('0.10');
    expect(file.value.source.exactText(['prices', 'm', 'output'])).toBe('2.50');
  });

  test('as many aliases as a large house needs are followed', () => {
    const channels = Array.from({ length: 2000 }, (_, index) => `  c${index}: { <<: *base }`);
    const text = `x-base: &base { provider: openai, models: [m] }\nchannels:\n${channels.join('\n')}`;
    expect(problemsOf(text)).toEqual([]);
  });

  test('an alias of nothing has a place, and aliases that would fill the memory are refused', () => {
    expect(problemsOf('channels:\n  a: *base\n')).toEqual(['headgate.yaml:2:6: there is no &base before it']);
    const bomb = Array.from({ length: 9 }, (_, index) =>
      index === 0 ? 'x-0: &a0 [x]' : `x-${index}: &a${index} [${`*a${index - 1}, `.repeat(9)}]`,
    );
    expect(problemsOf(bomb.join('\n'))).toEqual([expect.stringContaining('aliases cannot be followed')]);
    expect(problemsOf('x-a: &a { <<: *a }')).toEqual([expect.stringContaining('aliases cannot be followed')]);
    // References are few, and what they stand for is much.
    const large = `x-a: &a [${'x, '.repeat(2_000)}]\nx-b: [${'*a, '.repeat(2_000)}]\n`;
    expect(problemsOf(large)).toEqual([expect.stringContaining('aliases cannot be followed')]);
  });

  test.each(['[]', 'text', '3'])('%j is not a configuration', (text) => {
    expect(problemsOf(text)).toEqual(['headgate.yaml:1:1: must be a map of members']);
  });

  test('members named like those of every object are refused like any other', () => {
    expect(problemsOf('constructor: {}\n__proto__: {}').join()).toContain('there is no such member');
  });

  test('a dialect flag that does not exist is refused', () => {
    expect(problemsOf('providers: { x: { dialect: { usageStream: true } } }')).toEqual([
      'headgate.yaml:1:30: providers.x.dialect.usageStream: there is no such member; did you mean "usageInStream"?',
    ]);
  });

  test.each(['http://a.example/v1/', 'ftp://a.example', 'https://u:p@a.example', 'https://a.example?x=1'])(
    'refuses the base URL %s',
    (baseUrl) => {
      expect(
        problemsOf(`channels: { a: { provider: openai, models: [m], baseUrl: "${baseUrl}" } }`),
      ).toHaveLength(1);
    },
  );
});
