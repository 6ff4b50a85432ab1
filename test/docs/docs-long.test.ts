import assert from 'node:assert/strict';
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { test } from 'node:test';
import manifest from '../../package.json' with { type: 'json' };
import { ROOT } from '../cli/command-line.ts';
import { checkSessions, readersFolder, runShellBlocks } from './quoted-sessions.ts';

const FOLDER = join(ROOT, 'docs');
const documents = globSync('docs/**/*.md', { cwd: ROOT }).sort();
const pages = [...globSync('*.md', { cwd: ROOT }), ...documents];
const textOf = (page: string): string => readFileSync(join(ROOT, page), 'utf8');
/** The text without its code, in which `](` is no link. */
const proseOf = (page: string): string => textOf(page).replaceAll(/^```[\s\S]*?^```/gm, '');

/** The files and folders of the package. npm packs the first three in any case. */
const packed = new Set(
  ['package.json', 'LICENSE', 'README.md', ...manifest.files].flatMap((name) =>
    globSync([name, `${name}/**`], { cwd: ROOT }),
  ),
);

/** The anchors that GitHub makes of a page's headings. */
function anchorsOf(page: string): Set<string> {
  const titles = [...proseOf(page).matchAll(/^#+ (.+)$/gm)].map(([, title]) => title!);
  const words = titles.map((title) => title.toLowerCase().replaceAll(/[^\p{L}\p{N} _-]/gu, ''));
  return new Set(words.map((title) => title.replaceAll(' ', '-')));
}

test('docs/README.md links to every document, and the README to it', () => {
  const index = textOf('docs/README.md');
  for (const page of documents) {
    const path = relative(FOLDER, join(ROOT, page));
    if (path !== 'README.md') assert.ok(index.includes(`](${path})`), `${path} is not linked`);
  }
  assert.match(textOf('README.md'), /\]\(docs\/README\.md\)/);
});

test('each relative link leads to a file that exists, from a page of the package to one of the package, and each anchor to a heading', () => {
  const broken: string[] = [];
  let links = 0;
  for (const page of pages) {
    for (const [, target, anchor] of proseOf(page).matchAll(/\]\(([^)#:]*)(?:#([^)]*))?\)/g)) {
      links += 1;
      const file = target === '' ? page : join(dirname(page), target!);
      if (!existsSync(join(ROOT, file))) broken.push(`${page}: ${target}`);
      else if (packed.has(page) && !packed.has(file.replace(/\/$/, '')))
        broken.push(`${page}: ${target} is not packed`);
      else if (anchor !== undefined && !anchorsOf(file).has(anchor))
        broken.push(`${page}: ${target}#${anchor}`);
    }
  }
  assert.ok(links > 100, `${links} links`);
  assert.deepEqual(broken, []);
});

test('what users read names no file of the source, which the package does not have', () => {
  const forUsers = globSync('docs/{*/service-api,*/library,analyst/*,operator/*,reference/*}.md', {
    cwd: ROOT,
  });
  assert.ok(forUsers.length > 20, `${forUsers.length} documents`);
  const naming = forUsers.filter((page) => /\bsrc\//.test(textOf(page)));
  assert.deepEqual(naming, []);
});

test('every source file that a document names exists, and docs/developer/architecture.md names every module', () => {
  const sourceFile = /(?<![\w./])((?:[a-z][\w-]*\/)+[\w.-]+\.ts|test\/[\w/-]+\.yaml)\b/g;
  const named = pages.flatMap((page) =>
    [...textOf(page).matchAll(sourceFile)].map(([, file]) => ({ page, file: file! })),
  );
  assert.ok(named.length > 200, `${named.length} names`);
  // A page may name a file from src/.
  const missing = named.filter(
    ({ file }) => !existsSync(join(ROOT, file)) && !existsSync(join(ROOT, 'src', file)),
  );
  assert.deepEqual(missing, []);
  const cases = pages.flatMap(
    (page) => textOf(page).match(/\btest\/run\/cases\/[a-z][\w-]*/g) ?? [],
  );
  assert.ok(cases.length > 10, `${cases.length} cases`);
  const lost = cases.filter((folder) => !existsSync(join(ROOT, folder, 'case.yaml')));
  assert.deepEqual(lost, []);
  const architecture = textOf('docs/developer/architecture.md');
  const modules = readdirSync(join(ROOT, 'src'), { withFileTypes: true }).filter((entry) =>
    entry.isDirectory(),
  );
  for (const { name } of modules)
    assert.ok(architecture.includes(`${name}/`), `${name}/ is not named`);
});

test('every document that a message or a comment of the code names exists', () => {
  const named = globSync('{src,test,bench}/**/*.ts', { cwd: ROOT }).flatMap((file) =>
    (textOf(file).match(/\bdocs\/[\w/-]+\.md\b/g) ?? []).map((page) => `${file}: ${page}`),
  );
  assert.ok(named.length > 20, `${named.length} names`);
  const missing = named.filter((one) => !existsSync(join(ROOT, one.split(': ')[1]!)));
  assert.deepEqual(missing, []);
});

/** Pages whose shell blocks take 2 to 7 s of processor time: the first builds the sample data, the others start the program often. */
for (const page of documents) {
  if (page === 'docs/reference/errors.md' || !/^```(console|sh)$/m.test(textOf(page))) continue;
  test(`the commands in ${page} do what it says`, async (t) => {
    const folder = readersFolder(t);
    await checkSessions(join(ROOT, page), folder);
    runShellBlocks(join(ROOT, page), folder);
  });
}
