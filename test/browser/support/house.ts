import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import { withoutConsole } from '../../../packages/gateway/src/admin/settings/layered-settings.ts';
import { environmentOf, givenSettings, readSettings } from '../../../packages/gateway/src/config.ts';
import { type RunningGateway, startGateway } from '../../../packages/gateway/src/main.ts';
import { type Role, signInAs } from './roles.ts';

/** How a page is looked at. */
export interface View {
  readonly width?: number;
  readonly height?: number;
  readonly theme?: 'light' | 'dark';
  readonly language?: 'en' | 'zh';
}

/** A whole gateway with its simulated channels, and a browser in front of it. */
export interface House {
  readonly gateway: RunningGateway;
  readonly dataDir: string;
  readonly browser: Browser;
  /** A page at the path, of somebody of that role, in a window of their own. */
  openPage(role: Role, path: string, view?: View): Promise<Page>;
  /** Ends both. Fails when a page wrote an error to its console, threw, or met its policy. */
  [Symbol.asyncDispose](): Promise<void>;
}

const screenshots = process.env['HEADGATE_SCREENSHOTS'] ?? join(tmpdir(), 'headgate-screenshots');
const languages = { en: 'en-US', zh: 'zh-CN' } as const;

/** Starts both. `flags` are those of `headgate serve`, without dashes. */
export async function openHouse(flags: Readonly<Record<string, string>> = {}): Promise<House> {
  await using opened = new AsyncDisposableStack();
  const dataDir =
    flags['data-dir'] ?? opened.adopt(mkdtempSync(join(tmpdir(), 'headgate-browser-')), removeAll);
  const gateway = opened.adopt(await start(dataDir, flags), (it) => it.stop());
  const browser = opened.adopt(await launch(), (it) => it.close());
  const troubles: string[] = [];
  const everything = opened.move();
  return {
    gateway,
    dataDir,
    browser,
    openPage: async (role, path, view = {}) => {
      const context = await browser.newContext(contextOptions(view));
      await signInAs(role, context, gateway, dataDir);
      const page = await context.newPage();
      listen(page, troubles);
      await page.goto(`${gateway.consoleOrigin}${path}`);
      await settled(page);
      return page;
    },
    async [Symbol.asyncDispose]() {
      await everything.disposeAsync();
      failFor(troubles);
    },
  };
}

function removeAll(directory: string): void {
  rmSync(directory, { recursive: true, force: true });
}

async function start(dataDir: string, flags: Readonly<Record<string, string>>): Promise<RunningGateway> {
  const environment = environmentOf({});
  const sources = {
    flags: {
      ...{
        'data-dir': dataDir,
        'api-port': '0',
        'console-port': '0',
        'log-level': 'error',
        'call-log': 'false',
      },
      ...flags,
    },
    environment,
    file: null,
  };
  const settings = readSettings(sources);
  if (!settings.ok) throw new Error(JSON.stringify(settings.error));
  const layers = withoutConsole(settings.value, givenSettings(sources));
  const gateway = await startGateway(settings.value, environment, { layers, logFile: join(dataDir, 'log') });
  if (!gateway.ok) throw new Error(JSON.stringify(gateway.error));
  return gateway.value;
}

/** A browser in front of gateways that the test has started itself. Its end fails as that of a house does. */
export interface Window extends AsyncDisposable {
  openPage(url: string, view?: View): Promise<Page>;
}

export async function openWindow(): Promise<Window> {
  const browser = await launch();
  const troubles: string[] = [];
  return {
    openPage: async (url, view = {}) => {
      const context = await browser.newContext(contextOptions(view));
      const page = await context.newPage();
      listen(page, troubles);
      await page.goto(url);
      return page;
    },
    async [Symbol.asyncDispose]() {
      await browser.close();
      failFor(troubles);
    },
  };
}

function failFor(troubles: readonly string[]): void {
  if (troubles.length > 0) throw new Error(`pages had troubles:\n${[...new Set(troubles)].join('\n')}`);
}

function launch(): Promise<Browser> {
  const executablePath = process.env['HEADGATE_CHROMIUM'] ?? '/usr/bin/chromium';
  if (!existsSync(executablePath))
    throw new Error(
      `There is no browser at ${executablePath}: install Chromium (on Debian: apt-get install chromium fonts-noto-cjk), or say by HEADGATE_CHROMIUM where one is.`,
    );
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--force-color-profile=srgb'] });
}

function contextOptions({ width = 1440, height = 900, theme = 'light', language = 'en' }: View) {
  return {
    viewport: { width, height },
    colorScheme: theme,
    locale: languages[language],
    timezoneId: 'Europe/Berlin',
    reducedMotion: 'reduce',
    permissions: ['clipboard-read', 'clipboard-write'],
  } satisfies Parameters<Browser['newContext']>[0];
}

/** A refused request is an error in the console of Chromium: whether it is one of the page, its test says. */
function listen(page: Page, troubles: string[]): void {
  page.on('pageerror', (error) => troubles.push(`${page.url()}: threw ${error.stack ?? error.message}`));
  page.on('console', (message) => {
    if (message.type() !== 'error' || message.text().startsWith('Failed to load resource')) return;
    troubles.push(`${page.url()}: ${message.text()}`);
  });
}

/** Waits until nothing is loading any more, as far as the page shows it. */
export async function settled(page: Page): Promise<void> {
  await page.locator('h1, [role="alert"]').first().waitFor();
  await page.locator('[aria-busy="true"]').first().waitFor({ state: 'detached' });
}

/** Keeps a picture of the whole page, for a person to look at. */
export async function screenshot(page: Page, name: string): Promise<void> {
  mkdirSync(screenshots, { recursive: true });
  await page.screenshot({ path: join(screenshots, `${name}.png`), fullPage: true, animations: 'disabled' });
}
