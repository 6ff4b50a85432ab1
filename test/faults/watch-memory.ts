/* Loaded into a run: writes its memory to the file that WATCH_MEMORY names, a line a second. */
import { appendFileSync } from 'node:fs';

const file = process.env.WATCH_MEMORY;
if (file !== undefined) {
  const note = () => appendFileSync(file, `${process.memoryUsage.rss()}\n`);
  setInterval(note, 1_000).unref();
}
