#!/usr/bin/env -S node --max-semi-space-size=4
// Starts Perilbook: from source in a checkout, where a build may be old; compiled in an installed package, which has no source.
// In syntax of 2015, so that an old Node gets as far as the message. better-sqlite3 crashes the process on versions below 24.
//
// The flag bounds V8's space for new objects, which otherwise grows while rows are created faster than they are collected: with 16 MB a
// run of a million rows took 340 MB instead of 280, and was no faster; with 2 MB loading data took a tenth longer. It works only when
// Node starts.
'use strict';
const fs = require('fs');
const path = require('path');

const root = path.join(__dirname, '..');
const LEAST = 24;

if (parseInt(process.versions.node, 10) >= LEAST) {
  // Compiled code is kept for the next start: in the user's own folder. In Node's default, the system's folder for temporary files,
  // another user could put code there.
  // A relative folder does not count, as the standard of these variables says.
  const xdg = process.env.XDG_CACHE_HOME || '';
  const local = process.platform === 'win32' && process.env.LOCALAPPDATA;
  const cacheHome = path.isAbsolute(xdg) ? xdg : local || (process.env.HOME && path.join(process.env.HOME, '.cache'));
  if (cacheHome) require('module').enableCompileCache(path.join(cacheHome, local === cacheHome ? 'perilbook/cache' : 'perilbook'));
  const source = path.join(root, 'src/main.ts');
  const file = fs.existsSync(source) ? source : path.join(root, 'dist/main.js');
  import(require('url').pathToFileURL(file).href);
} else {
  // A checkout brings its own Node (`npm ci`), and npx may have started this with the machine's.
  const own = path.join(root, 'node_modules/.bin/node');
  if (fs.existsSync(own) && fs.realpathSync(own) !== fs.realpathSync(process.execPath)) startWith(own);
  else {
    process.stderr.write(
      'error: Node.js ' + process.versions.node + ' is too old: install Node.js ' + LEAST + ' or newer [NODE_TOO_OLD]\n'
    );
    process.exitCode = 2;
  }
}

function startWith(node) {
  // Before the start: a signal between the start and its handler would end this process alone.
  // A terminal sends Ctrl-C and its end to both processes, and the child decides what they mean; kill sends SIGTERM to this one only.
  ['SIGINT', 'SIGHUP'].forEach(function (signal) {
    process.on(signal, function () {});
  });
  process.on('SIGTERM', function () {
    child.kill('SIGTERM');
  });
  const args = ['--max-semi-space-size=4', __filename].concat(process.argv.slice(2));
  const child = require('child_process').spawn(node, args, { stdio: 'inherit' });
  child.on('exit', function (code, signal) {
    process.exitCode = code === null ? 128 + (require('os').constants.signals[signal] || 0) : code;
  });
}
