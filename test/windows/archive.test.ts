import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, globSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { unzipSync } from 'fflate';
import { ROOT } from '../cli/command-line.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const [ARCHIVE] = globSync('dist-archives/*-win-x64.zip', { cwd: ROOT });
const skip =
  process.platform !== 'win32'
    ? 'Windows alone runs it'
    : ARCHIVE === undefined && 'npm run archives makes it';

test("Windows' archive runs the README's first session, and keeps its store in the user's folder", {
  skip,
}, (t) => {
  const folder = join(temporaryFolder(t), 'mein Büro');
  for (const [path, bytes] of Object.entries(unzipSync(readFileSync(join(ROOT, ARCHIVE!))))) {
    const file = join(folder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, bytes);
  }
  const program = join(folder, readdirSync(folder)[0]!);
  const local = join(folder, 'Local');
  const readme = readFileSync(join(program, 'README.md'), 'utf8');
  const rows = /cat > houses\.csv <<'END'\n([\s\S]*?)END\n/.exec(readme)![1]!;
  // As Windows' editors write it.
  writeFileSync(join(program, 'houses.csv'), rows.replaceAll('\n', '\r\n'));
  const [, command, said] = /## A session[\s\S]*?```console\n\$ perilbook (.*)\n([\s\S]*?)```/.exec(
    readme,
  )!;
  const env = { ...process.env, HOME: folder, LOCALAPPDATA: local };
  const perilbook = (...args: string[]) => {
    // Wine's pipes lose what is written last.
    const [out, err] = [join(folder, 'out.txt'), join(folder, 'err.txt')];
    const line = ['/d', '/c', 'perilbook.cmd', ...args, '>', out, '2>', err];
    const { status } = spawnSync('cmd', line, { cwd: program, env, stdio: 'ignore' });
    return { status, stdout: readFileSync(out, 'utf8'), stderr: readFileSync(err, 'utf8') };
  };
  const first = perilbook(...command!.split(' '));
  assert.equal(first.status, 0, first.stderr);
  assert.equal(`${first.stderr.replace(/^Warning: .*certs.*\n/, '')}${first.stdout}`, said);
  assert.ok(existsSync(join(local, 'perilbook/store.db')));
  assert.equal(perilbook('run', 'none.csv').status, 2, 'the exit code gets through');
  assert.match(perilbook('--version').stdout, /^\d+\.\d+\.\d+/);
});
