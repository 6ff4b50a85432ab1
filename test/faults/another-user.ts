/* Loaded into a run by root, to whom permissions do not apply: it continues as the user nobody. */
if (process.getuid?.() === 0) {
  process.setgid?.(65_534);
  process.setuid?.(65_534);
}
