// The library's entry in the package. On an old Node, its modules would fail with errors about names and syntax that say nothing of Node.
import { createRequire } from 'node:module';

const LEAST = 24;

if (Number.parseInt(process.versions.node, 10) < LEAST) {
  const message = `Node.js ${process.versions.node} is too old: install Node.js ${LEAST} or newer`;
  throw Object.assign(new Error(message), { code: 'NODE_TOO_OLD' });
}

export const { PerilbookError, createClient, enrich, local, lookup, openStore, plan, run, sample } = createRequire(
  import.meta.url,
)('../dist/index.js');
