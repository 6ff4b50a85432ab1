import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { ErrorBox, Fold, html } from './html.js';
import { byteSize, counted } from './numbers.js';
import { closeRun, focusOn, openRun, run } from './run.js';
import { getText, isLost, needsServer, post, upload } from './server.js';
import { file, getAgain, isOpening, leaveFile, takeFile } from './state.js';

const error = signal(null);
/** The share that is uploaded; null: nothing is; undefined: not known yet. */
const uploaded = signal(null);
const isOver = signal(false);

/** What is being opened; null for nothing. */
let opening = null;

/** Opens the file that `work` resolves to. While a file is being opened another one is not, but Back and Forward count: what was being
 * opened is dropped. After a failure no file is open.
 * @param work gets a function that shows the share that is uploaded
 * @param isOwn whether the user has just opened it: what follows gets the focus, and Back leads to the file before */
async function open(work, isOwn) {
  if (opening !== null && isOwn) return;
  const own = {};
  const isDropped = () => opening !== own;
  opening = own;
  error.value = null;
  uploaded.value = null;
  try {
    const opened = await work((share) => {
      if (!isDropped()) uploaded.value = share;
    });
    if (isDropped()) return;
    const address = `#file=${opened.id}`;
    if (isOwn && window.location.hash !== address) history.pushState(null, '', address);
    else history.replaceState(null, '', address);
    takeFile(opened);
    openRun(opened);
    if (isOwn) focusOn(run.value === null ? '#columns-fold > summary' : '#run-title');
  } catch (failure) {
    if (isDropped()) return;
    // An open file below a failed one would look like its result.
    closeRun();
    leaveFile();
    history.replaceState(null, '', '#');
    error.value = failure;
  } finally {
    if (!isDropped()) {
      opening = null;
      uploaded.value = null;
    }
  }
}

/** Opens a file that the server has, by its id. It adds no entry to the history and leaves the focus where it is. */
export const openAgain = (id) => open(() => getAgain(id), false);

/** Uploads a file that the user chose or dropped, shows the share that is sent, and opens it. */
const send = (pick) =>
  open(async (show) => {
    show(undefined);
    return await upload(await pick(), show);
  }, true);

/** Gets the sample from the server, and uploads it as a user's file, `sample.csv`. */
const sendSample = () =>
  send(async () => new File([await getText('/assets/sample.csv')], 'sample.csv'));

const NO_PATH = {
  message: 'Enter the path of a file on this machine',
  hint: 'For instance /folder/portfolio.csv.',
};

const NOT_OPENED = {
  message: 'The file was not opened: Perilbook does not respond',
  hint: 'Drop it again when the connection is back.',
};

const FORMATS = {
  xlsx: 'Excel',
  xlsm: 'Excel',
  parquet: 'Parquet',
  geojson: 'GeoJSON',
  topojson: 'TopoJSON',
};

/** How to open a file, folded once one is open; the upload's progress and an error. A file can be dropped anywhere on the page. */
export function FileStep() {
  useEffect(() => {
    const over = (event) => {
      event.preventDefault();
      isOver.value = true;
    };
    document.addEventListener('dragenter', over);
    document.addEventListener('dragover', over);
    document.addEventListener('dragleave', ({ relatedTarget }) => {
      if (relatedTarget === null) isOver.value = false;
    });
    document.addEventListener('drop', (event) => {
      event.preventDefault();
      isOver.value = false;
      const [picked] = event.dataTransfer.files;
      // A failed upload would close the open file.
      if (picked && isLost.value) error.value = NOT_OPENED;
      else if (picked) void send(() => picked);
    });
  }, []);
  const line = file.value === null ? '' : fileWords(file.value);
  return html`<section id="file-step" class=${isOver.value ? 'over' : ''} aria-labelledby="file-title">
    <${Fold} name="file" title="File" line=${line} isOpen=${isOpening}><${Opener} /><//>
    ${uploaded.value !== null && html`<progress id="upload" aria-label="Upload" value=${uploaded.value}></progress>`}
    <${ErrorBox} id="file-error" error=${error.value} />
  </section>`;
}

/** An upload, the sample, or a path on this machine; below, an example until a file is open. */
function Opener() {
  const pick = ({ currentTarget }) => {
    const [picked] = currentTarget.files;
    if (picked) void send(() => picked);
    currentTarget.value = '';
  };
  const openPath = (event) => {
    event.preventDefault();
    const path = event.currentTarget.querySelector('input').value;
    if (path.trim() === '') error.value = NO_PATH;
    else void open(() => post('/api/files/named', { path }), true);
  };
  return html`<div id="drop" class="drop">
      <p class="drop-words">Drop a file with latitude and longitude columns here</p>
      <p class="row"><input type="file" id="file" class="unseen" aria-describedby="file-kinds" ...${needsServer()} onChange=${pick} /><label class="button primary" for="file">Choose a file</label>
        <button type="button" id="sample-file" class="button" onClick=${sendSample} ...${needsServer()}>Try it with a sample</button></p>
      <p id="file-kinds" class="soft small">CSV, Excel, Parquet, NDJSON, JSON, GeoJSON or TopoJSON. It stays on this machine; only coordinates are sent to the service.</p>
    </div>
    <form id="path-form" class="path" onSubmit=${openPath}>
      <label for="path">Or open a file on this machine by its path</label>
      <input id="path" type="text" autocomplete="off" spellcheck=${false} placeholder="/folder/portfolio.csv" />
      <button type="submit" class="button" ...${needsServer()}>Open</button>
    </form>
    ${file.value === null && html`<${Example} />`}`;
}

/** From the sample, whose ratings are made up. */
const EXAMPLE = [
  ['Plant 7', '29.8565', '-95.4313', 'Very High', '97.7186', 'Relatively Moderate'],
  ['Clinic 9', '25.8117', '-80.2541', 'Relatively High', '87.4614', 'Relatively Low'],
  ['Hotel 20', '34.0827', '-118.3021', 'Not Applicable', '', 'Very High'],
];

/** What one gets: three rows as they are, and as they come back. */
function Example() {
  const head = [
    'LocName',
    'Latitude',
    'Longitude',
    'hurricane_rating',
    'hurricane_score',
    'wildfire_rating',
  ];
  const added = (column) => (column < 3 ? undefined : 'added');
  return html`<figure id="example"><figcaption>Each row comes back as it was, with new columns at its end.</figcaption>
    <div class="scroll" role="region" aria-label="Example" tabindex="0"><table class="data">
      <thead><tr><th scope="colgroup" colspan="3">Your file</th><th scope="colgroup" colspan="3" class="added">Added, here with made-up ratings; more for each topic</th></tr>
        <tr>${head.map((name, column) => html`<th scope="col" class=${added(column)}>${name}</th>`)}</tr></thead>
      <tbody>${EXAMPLE.map((row) => html`<tr>${row.map((text, column) => html`<td class=${added(column)}>${text}</td>`)}</tr>`)}</tbody>
    </table></div></figure>`;
}

/** The line of the folded step: path (of an upload, the name), format, size and number of columns. */
function fileWords({ name, path, format, bytes, columns }) {
  return `${path ?? name}: ${FORMATS[format] ?? format.toUpperCase()}, ${byteSize(bytes)}, ${counted(columns.length, 'column')}`;
}
