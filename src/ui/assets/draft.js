/* What the user has chosen for a file and no run has saved yet. It lasts as long as the tab. */

const keyOf = (book) => `perilbook ${book}`;

/** The choices for a file; `{}` for none. A browser may refuse storage. */
export function readDraft(book) {
  try {
    return JSON.parse(sessionStorage.getItem(keyOf(book)) ?? '{}');
  } catch {
    return {};
  }
}

export function keepDraft(book, part) {
  try {
    sessionStorage.setItem(keyOf(book), JSON.stringify({ ...readDraft(book), ...part }));
  } catch {
    // Without storage a reload forgets them.
  }
}

export function forgetDraft(book) {
  try {
    sessionStorage.removeItem(keyOf(book));
  } catch {
    // Nothing was kept.
  }
}
