import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';

// Stripping types and compiling is most of what a start costs; kept between starts, it takes half the time. The cache is
// beside the packages and not in the system's temporary directory, where others could write to it. Without it all works.
enableCompileCache(fileURLToPath(new URL('../../../node_modules/.cache/headgate', import.meta.url)));

const { startCommandLine } = await import('./cli/run.ts');
await startCommandLine();
