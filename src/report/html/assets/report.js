// Makes the sections of a report work, in a document or a shadow root. `state` is what the reader chose in an earlier drawing of them.
export function setUpReport(root, state = {}) {
  for (const hidden of root.querySelectorAll('.scripted')) hidden.hidden = false;
  state.map ??= {};
  state.list ??= {};
  state.folds ??= {};
  setUpMap(root, state.map);
  setUpLocations(root, state.list);
  for (const fold of root.querySelectorAll('section > details')) {
    const { id } = fold.parentElement;
    fold.open = state.folds[id] ?? fold.open;
    fold.addEventListener('toggle', () => {
      state.folds[id] = fold.open;
    });
  }
}
