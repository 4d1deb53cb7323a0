/** The imports that the files of a folder may have, besides each other. */
export interface FolderPermission {
  /** Folders and files of the repository. */
  readonly imports: readonly string[];
  /** Folders whose types alone may be imported. */
  readonly types?: readonly string[];
  /** Packages, and `node:` for all of Node's own modules. */
  readonly packages: readonly string[];
}

const protocols = 'packages/protocols/src';
const gateway = 'packages/gateway/src';
const console = 'packages/console/src';
const contract = `${gateway}/http/console/contract/index.ts`;
const inGateway = (...folders: readonly string[]) => folders.map((folder) => `${gateway}/${folder}`);

/** The libraries that draw the console. */
const drawing = ['react', '@base-ui/react', '@tanstack/react-router', 'lucide-react'];

/** Decisions without I/O. */
const core = inGateway('catalogue', 'money', 'route');

/**
 * The import table of ARCHITECTURE.md. Imports go one way: main → http → call → ports → route → catalogue, money → protocols;
 * store, upstream and telemetry stand behind ports. The longest matching folder counts; a folder that is not here may
 * not exist.
 */
export const folderPermissions: Readonly<Record<string, FolderPermission>> = {
  [protocols]: { imports: [], packages: [] },
  'packages/simulator/src': { imports: [protocols], packages: ['node:'] },
  [`${gateway}/money`]: { imports: [protocols, ...inGateway('catalogue')], packages: [] },
  [`${gateway}/catalogue`]: {
    imports: [protocols, ...inGateway('money')],
    types: inGateway('ports'),
    packages: ['zod'],
  },
  [`${gateway}/route`]: {
    imports: [protocols, ...inGateway('catalogue', 'money')],
    types: inGateway('ports'),
    packages: [],
  },
  [`${gateway}/route/prober.ts`]: {
    imports: [protocols, ...core, ...inGateway('ports', 'call')],
    packages: [],
  },
  [`${gateway}/ports`]: { imports: [protocols, ...core], packages: [] },
  [`${gateway}/limits`]: { imports: [protocols, ...core, ...inGateway('ports')], packages: [] },
  [`${gateway}/call`]: { imports: [protocols, ...core, ...inGateway('ports')], packages: [] },
  [`${gateway}/status`]: { imports: [protocols, ...core, ...inGateway('ports')], packages: [] },
  [`${gateway}/store`]: {
    imports: [protocols, ...core, ...inGateway('ports', 'status')],
    packages: ['node:', 'kysely'],
  },
  [`${gateway}/upstream`]: {
    imports: [protocols, ...core, ...inGateway('ports')],
    packages: ['node:'],
  },
  [`${gateway}/threads`]: { imports: [], packages: ['node:'] },
  [`${gateway}/translation`]: {
    imports: [protocols, ...core, ...inGateway('ports', 'threads')],
    packages: ['node:'],
  },
  [`${gateway}/tokens`]: {
    imports: [protocols, ...core, ...inGateway('ports', 'threads')],
    packages: ['node:', 'gpt-tokenizer'],
  },
  [`${gateway}/events`]: {
    imports: [protocols, ...core, ...inGateway('ports')],
    types: inGateway('telemetry'),
    packages: ['node:'],
  },
  [`${gateway}/telemetry`]: {
    imports: [protocols, ...core, ...inGateway('ports')],
    packages: ['node:', 'pino', 'prom-client'],
  },
  [`${gateway}/http`]: {
    imports: [protocols, ...core, ...inGateway('ports', 'call')],
    packages: ['node:'],
  },
  [`${gateway}/http/console`]: {
    imports: [
      protocols,
      ...core,
      ...inGateway('ports', 'admin'),
      ...inGateway('http/listening.ts', 'http/caller-address.ts', 'http/request-head.ts'),
    ],
    types: inGateway('config.ts', 'status'),
    packages: ['node:', 'hono', '@hono/node-server', 'zod'],
  },
  [`${gateway}/config`]: {
    imports: [protocols, ...core, ...inGateway('ports', 'config.ts')],
    packages: ['node:', 'zod', 'yaml'],
  },
  [`${gateway}/config.ts`]: { imports: [protocols, ...inGateway('config')], packages: [] },
  [`${gateway}/admin`]: {
    imports: [protocols, ...core, ...inGateway('ports', 'status', 'config', 'config.ts')],
    types: inGateway('telemetry'),
    packages: ['node:', 'zod', 'yaml', '@simplewebauthn/server', 'oauth4webapi'],
  },
  [`${gateway}/cli`]: {
    imports: [
      protocols,
      'packages/simulator/src',
      ...core,
      ...inGateway(
        'ports',
        'config',
        'config.ts',
        'admin',
        'store',
        'upstream',
        'events',
        'telemetry',
        'http/listening.ts',
        'main.ts',
      ),
    ],
    packages: ['node:'],
  },
  [`${gateway}/cli.ts`]: { imports: [protocols, ...inGateway('')], packages: ['node:'] },
  [`${gateway}/main.ts`]: {
    imports: [protocols, 'packages/simulator/src', ...inGateway('')],
    packages: ['node:'],
  },
  // The console is built for browsers. Of the gateway it knows the types of its API, and of a library what its folder is for.
  [console]: { imports: [], packages: ['react', 'react-dom'] },
  [`${console}/app`]: {
    types: [contract],
    imports: [`${console}/ui`, `${console}/api`, `${console}/pages`],
    packages: [...drawing, '@tanstack/react-query', 'i18next', 'react-i18next'],
  },
  [`${console}/ui`]: {
    imports: [`${console}/app`, `${console}/api`],
    packages: [...drawing, '@tanstack/react-virtual', 'uplot'],
  },
  [`${console}/api`]: {
    imports: [`${console}/app/choice.ts`],
    types: [contract],
    packages: ['react', '@tanstack/react-query'],
  },
  [`${console}/pages`]: {
    imports: [`${console}/app`, `${console}/ui`, `${console}/api`],
    types: [contract],
    packages: [...drawing, '@tanstack/react-query', '@simplewebauthn/browser', 'uqr'],
  },
};

/** Folders whose files compute and do nothing else. */
export const pureFolders = [protocols, ...core].map((folder) => `${folder}/`);

/** Folders into which time and chance are passed, so that tests and simulations own them. */
export const timelessFolders = [
  ...pureFolders,
  `${gateway}/call/`,
  `${gateway}/limits/`,
  `${gateway}/status/`,
];

/** Folders that a call passes through. */
export const dataPath = [...timelessFolders, `${gateway}/upstream/`, `${gateway}/http/`];
