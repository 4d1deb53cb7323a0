/** What the files of a folder may import, besides each other. */
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
const inGateway = (...folders: readonly string[]) => folders.map((folder) => `${gateway}/${folder}`);

/**
 * The import table of ARCHITECTURE.md. Imports go one way: main → http → pipeline → ports, core → protocols;
 * store, upstream and telemetry stand behind ports. The longest matching folder counts; a folder that is not here may
 * not exist.
 */
export const folderPermissions: Readonly<Record<string, FolderPermission>> = {
  [protocols]: { imports: [], packages: [] },
  'packages/simulator/src': { imports: [protocols], packages: ['node:'] },
  [`${gateway}/core`]: { imports: [protocols], types: inGateway('ports'), packages: [] },
  [`${gateway}/ports`]: { imports: [protocols, ...inGateway('core')], packages: [] },
  [`${gateway}/pipeline`]: { imports: [protocols, ...inGateway('core', 'ports')], packages: [] },
  [`${gateway}/routing`]: { imports: [protocols, ...inGateway('core', 'ports', 'pipeline')], packages: [] },
  [`${gateway}/store`]: {
    imports: [protocols, ...inGateway('core', 'ports')],
    packages: ['node:', 'kysely'],
  },
  [`${gateway}/upstream`]: {
    imports: [protocols, ...inGateway('core', 'ports')],
    packages: ['node:', 'undici'],
  },
  [`${gateway}/tokens`]: {
    imports: [protocols, ...inGateway('core', 'ports')],
    packages: ['node:', 'gpt-tokenizer'],
  },
  [`${gateway}/telemetry`]: {
    imports: [protocols, ...inGateway('core', 'ports')],
    packages: ['node:', 'pino', 'prom-client'],
  },
  [`${gateway}/http/data-plane`]: {
    imports: [protocols, ...inGateway('core', 'ports', 'pipeline')],
    packages: ['node:'],
  },
  [`${gateway}/http/console`]: {
    imports: [protocols, ...inGateway('core', 'ports', 'admin')],
    packages: ['node:', 'hono', '@hono/node-server'],
  },
  [`${gateway}/config`]: {
    imports: [protocols, ...inGateway('core', 'ports', 'config.ts')],
    packages: ['node:', 'zod', 'yaml'],
  },
  [`${gateway}/config.ts`]: { imports: [protocols, ...inGateway('config')], packages: [] },
  [`${gateway}/admin`]: {
    imports: [protocols, ...inGateway('core', 'ports', 'config', 'config.ts')],
    types: inGateway('telemetry'),
    packages: ['node:', 'zod', 'yaml'],
  },
  [`${gateway}/cli`]: {
    imports: [
      protocols,
      'packages/simulator/src',
      ...inGateway(
        'core',
        'ports',
        'config',
        'config.ts',
        'admin',
        'store',
        'upstream',
        'telemetry',
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
};

/** Folders whose files compute and do nothing else. */
export const pureFolders = [`${protocols}/`, `${gateway}/core/`];

/** Where time and chance come from outside, so that tests and simulations own them. */
export const timelessFolders = [...pureFolders, `${gateway}/pipeline/`, `${gateway}/routing/`];

/** What a call passes through. */
export const dataPath = [
  `${protocols}/`,
  `${gateway}/core/`,
  `${gateway}/pipeline/`,
  `${gateway}/upstream/`,
  `${gateway}/http/data-plane/`,
];
