import { get, post, Refusal, upload } from './api.js';
import { byId, say, show, showError } from './dom.js';
import { byteSize, counted } from './format.js';

/** The first step: a file is dropped, chosen or named. */
export function setUpFile(about, onBook, onNone) {
  const drop = byId('drop');
  const input = byId('file');
  let isBusy = false;

  async function open(work, isOwn = true) {
    if (isBusy) return;
    isBusy = true;
    showError('file-error', null);
    try {
      const book = await work();
      showBook(book);
      await onBook(book, isOwn);
    } catch (error) {
      // An open file below a failed one would look like its result.
      showNone();
      onNone();
      showError('file-error', error);
    } finally {
      isBusy = false;
      show('upload', false);
      input.value = '';
    }
  }

  const send = (file) =>
    open(async () => {
      if (file.size > about().most_upload) {
        throw new Refusal({
          code: 'TOO_LARGE',
          message: `${file.name} is larger than the upload limit (${byteSize(about().most_upload)})`,
          hint: 'Open it by its path instead.',
        });
      }
      const bar = byId('upload');
      bar.removeAttribute('value');
      bar.hidden = false;
      return await upload(file, (share) => {
        bar.value = share;
      });
    });

  input.addEventListener('change', () => input.files.length > 0 && send(input.files[0]));
  byId('sample-file').addEventListener('click', async () => {
    const text = await fetch('/assets/sample.csv').then((response) => response.blob());
    void send(new File([text], 'sample.csv'));
  });
  byId('path-form').addEventListener('submit', (event) => {
    event.preventDefault();
    void open(() => post('/api/books/named', { path: byId('path').value }));
  });
  for (const name of ['dragenter', 'dragover']) {
    document.addEventListener(name, (event) => {
      event.preventDefault();
      drop.classList.add('over');
    });
  }
  document.addEventListener('dragleave', (event) => {
    if (event.relatedTarget === null) drop.classList.remove('over');
  });
  document.addEventListener('drop', (event) => {
    event.preventDefault();
    drop.classList.remove('over');
    const [file] = event.dataTransfer.files;
    if (file) void send(file);
  });
  return {
    openAgain: (id, isOwn, header) => open(() => get(`/api/books/${id}${header}`), isOwn),
  };
}

const FORMATS = { csv: 'CSV', parquet: 'Parquet', ndjson: 'NDJSON', geojson: 'GeoJSON' };

function showNone() {
  byId('file-step').classList.remove('chosen');
  show('file-chosen', false);
  document.querySelector('label[for="file"]').textContent = 'Choose a file';
}

function showBook({ name, path, format, bytes, columns }) {
  byId('file-step').classList.add('chosen');
  show('file-chosen', true);
  const kind = FORMATS[format] ?? format;
  say('file-chosen', `${path ?? name}: ${kind}, ${byteSize(bytes)}, ${counted(columns.length, 'column')}`);
  document.querySelector('label[for="file"]').textContent = 'Choose another file';
}
