import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { installPinned } from '../../harness/pinned-packages.ts';

const folder = fileURLToPath(new URL('../../../.lighthouse', import.meta.url));

export const categories = ['performance', 'accessibility', 'best-practices'] as const;
export type Category = (typeof categories)[number];

/** What it gives a page in each category, of 100; and the audits that cost it something. */
export interface Judgement {
  readonly scores: Readonly<Record<Category, number>>;
  readonly faults: readonly string[];
}

interface Audit {
  readonly id: string;
  readonly title: string;
  readonly score: number | null;
}

interface Report {
  readonly categories: Readonly<
    Record<
      Category,
      {
        readonly score: number | null;
        readonly auditRefs: readonly { readonly id: string; readonly weight: number }[];
      }
    >
  >;
  readonly audits: Readonly<Record<string, Audit>>;
}

type Run = (url: string, flags: object, config?: unknown) => Promise<{ readonly lhr: Report } | undefined>;

/** Judges a page by Lighthouse in the browser that listens on that port, as a computer or as a telephone would see it. */
export async function judge(
  url: string,
  port: number,
  cookie: string | null,
  form: 'desktop' | 'mobile',
): Promise<Judgement> {
  installPinned({
    manifestFile: fileURLToPath(new URL('package.json', import.meta.url)),
    folder,
    notice: 'Installing Lighthouse (once; about 180 MB) …',
  });
  const moduleAt = (path: string) =>
    import(pathToFileURL(join(folder, 'node_modules/lighthouse/core', path)).href) as Promise<{
      readonly default: unknown;
    }>;
  // The module's own type is where it is installed, not here.
  const run = (await moduleAt('index.js')).default as Run;
  const config = form === 'desktop' ? (await moduleAt('config/desktop-config.js')).default : undefined;
  const flags = {
    ...{ port, logLevel: 'error', onlyCategories: categories, disableStorageReset: true },
    ...(cookie === null ? {} : { extraHeaders: { cookie } }),
  };
  const judged = await run(url, flags, config);
  if (judged === undefined) throw new Error(`Lighthouse said nothing of ${url}`);
  return toJudgement(judged.lhr);
}

function toJudgement({ categories: given, audits }: Report): Judgement {
  const scoreOf = (name: Category) => Math.round((given[name].score ?? 0) * 100);
  const weighed = categories.flatMap((name) => given[name].auditRefs.filter(({ weight }) => weight > 0));
  const faults = weighed.flatMap(({ id }) => {
    const audit = audits[id];
    return audit === undefined || audit.score === null || audit.score >= 0.9
      ? []
      : [`${id} ${audit.score}: ${audit.title}`];
  });
  return {
    scores: {
      performance: scoreOf('performance'),
      accessibility: scoreOf('accessibility'),
      'best-practices': scoreOf('best-practices'),
    },
    faults,
  };
}
