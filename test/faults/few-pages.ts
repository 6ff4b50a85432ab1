/* Loaded into a run: no database grows beyond MAX_PAGES pages, as on a disk that is full (SQLITE_FULL). */
import Database from 'better-sqlite3';

const { pragma } = Database.prototype;
Database.prototype.pragma = function (source, options) {
  if (/^synchronous/.test(source)) pragma.call(this, `max_page_count = ${process.env.MAX_PAGES}`);
  return pragma.call(this, source, options);
};
