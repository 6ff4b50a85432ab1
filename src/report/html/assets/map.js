// The map: topic and measure, zoom, the level of detail and the names that fit it. Without scripts the page shows one topic, one level.
// `state` is what was chosen: it outlives the drawing.
export function setUpMap(root, state) {
  const byId = (id) => root.getElementById(id);
  const read = (id) => JSON.parse(byId(id).textContent);
  const data = read('map-data');
  const names = read('map-names');
  const controls = byId('map-controls');
  const topic = byId('map-topic');
  const drawing = byId('map-drawing');
  const world = byId('map-world');
  const marks = byId('marks');
  const box = root.querySelector('.map-box');
  const hint = byId('map-hint');
  // Found now: the map may be taken out of the page before the next frame is drawn.
  const layer = byId('names');
  const sizes = [0, 1, 2].map((index) => byId(`size-${index}`));
  const perils = [...root.querySelectorAll('.perils tr[data-layer]')];
  const grouped = new Intl.NumberFormat('en-US');
  const [WIDTH, HEIGHT] = [960, 600];
  const mostZoom = data.kind === 'point' ? 40 : 8;
  state.view ??= { x: 0, y: 0, k: 1 };
  const { view } = state;
  let level;

  const measure = () => controls.querySelector('input[name=measure]:checked')?.value ?? 'rows';
  // Units of the drawing in a pixel of the screen.
  const unit = () => WIDTH / (drawing.clientWidth || WIDTH);

  // The finest hexagons that are still 11 pixels wide.
  const levelInView = () => data.levels.findLast(({ radius }) => (radius * view.k) / unit() >= 6) ?? data.levels[0];

  const isInView = ([x, y]) => {
    const [left, top] = [x * view.k + view.x, y * view.k + view.y];
    return left > -40 && left < WIDTH + 40 && top > -40 && top < HEIGHT + 40;
  };

  // As in map-figure.ts.
  const drawMarks = () => {
    const by = measure();
    const index = Number(topic.value);
    const tones = data.tones[data.layers[index].scale];
    const letters = (level.letters[by] ?? level.letters.rows)[index];
    const answered = level.answered[level.answeredOf[index]];
    // Hexagons are areas and grow with the map. Dots are places and do not.
    const shrink = data.kind === 'point' ? Math.min(1.7, Math.max(1, unit())) / view.k ** 0.75 : 1;
    let drawn = '';
    for (const [bin, at] of level.at.entries()) {
      if (!isInView(at)) continue;
      const share = answered[bin] / level.rows[bin];
      const size = level.most * (0.56 + 0.44 * (Number(level.sizes[by][bin]) / 9)) * shrink;
      const use = (tone, scale) =>
        `<use href="#mark" class="t-${tone}" data-bin="${bin}" transform="translate(${at[0]} ${at[1]})scale(${scale.toFixed(2)})"/>`;
      const isPart = share > 0 && share < 1;
      if (isPart) drawn += use('unanswered', size);
      drawn += use(tones[Number(letters[bin])], isPart ? size * Math.max(0.45, Math.sqrt(share)) : size);
    }
    marks.innerHTML = drawn;
    for (const [index, text] of level.legend[by].entries()) {
      const shown = sizes[index];
      shown.textContent = text;
      shown.parentElement.hidden = text === '';
    }
  };

  // Names that have room, the most important first, none on another.
  const drawNames = () => {
    const scale = unit() / view.k;
    const taken = [];
    const shown = names.filter(([kind, name, x, y, width]) => {
      const letters = name.length + (kind === 'city' ? 2 : 0);
      const [half, high] = [letters * 3.6 * scale, 8 * scale];
      if (kind !== 'city' && width < 2 * half) return false;
      // The name of a city stands left of its dot.
      const [middle, top] = kind === 'city' ? [x - half, y - 4 * scale] : [x, y];
      const isWhole = (middle - half) * view.k + view.x > 0 && (middle + half) * view.k + view.x < WIDTH;
      const isFree = taken.every(
        (other) => Math.abs(other.middle - middle) > other.half + half || Math.abs(other.top - top) > 2 * high,
      );
      const fits = isWhole && isFree && isInView([x, y]);
      if (fits) taken.push({ middle, top, half });
      return fits;
    });
    layer.replaceChildren(
      ...shown.map(([kind, name, x, y]) => {
        const text = document.createElementNS(layer.namespaceURI, 'text');
        text.setAttribute('class', kind);
        text.setAttribute('x', x);
        text.setAttribute('y', kind === 'city' ? y - 4 * scale : y);
        text.textContent = kind === 'city' ? `${name} ·` : name;
        return text;
      }),
    );
  };

  const move = () => {
    view.x = Math.min(0, Math.max(WIDTH * (1 - view.k), view.x));
    view.y = Math.min(0, Math.max(HEIGHT * (1 - view.k), view.y));
    world.setAttribute('transform', `translate(${view.x} ${view.y})scale(${view.k})`);
    drawing.style.setProperty('--unit', unit() / view.k);
    drawing.classList.toggle('zoomed', view.k > 1);
    hint.hidden = true;
    level = levelInView();
    drawMarks();
    drawNames();
  };
  // Several events come in one frame.
  let isWaiting = false;
  const moveSoon = () => {
    if (isWaiting) return;
    isWaiting = true;
    requestAnimationFrame(() => {
      isWaiting = false;
      move();
    });
  };

  const show = () => {
    const { name, scale } = data.layers[Number(topic.value)];
    Object.assign(state, { topic: name, measure: measure() });
    for (const legend of root.querySelectorAll('.legend')) legend.hidden = legend.dataset.scale !== scale;
    for (const row of perils) {
      const isShown = row.dataset.layer === topic.value;
      row.classList.toggle('chosen', isShown);
      row.querySelector('button').setAttribute('aria-pressed', String(isShown));
    }
    const by = measure() === 'value' ? 'value' : 'locations';
    byId('map-shows').textContent = `Shown: ${name}, by ${by}.`;
    move();
  };

  const describe = (event) => {
    const bin = event.target.closest('use')?.dataset.bin;
    hint.hidden = bin === undefined;
    if (bin === undefined) return;
    const index = Number(topic.value);
    const { name, scale } = data.layers[index];
    const rows = level.rows[bin];
    const answered = level.answered[level.answeredOf[index]][bin];
    const worth = level.worth === null ? '' : `, ${level.worth[bin]}`;
    const typical = data.classes[scale][Number((level.letters[measure()] ?? level.letters.rows)[index][bin])];
    const county = level.counties[level.county[bin]];
    const says =
      answered === 0 ? 'not answered' : `${grouped.format(answered)} of ${grouped.format(rows)} answered: ${typical}`;
    const locations = `${grouped.format(rows)} location${rows === 1 ? '' : 's'}${worth}`;
    hint.textContent = `${county === '' ? '' : `${county}: `}${locations}. ${name}: ${says}`;
    const { left, top, width } = box.getBoundingClientRect();
    const x = event.clientX - left;
    hint.classList.toggle('to-left', x > width / 2);
    hint.style.left = `${x}px`;
    hint.style.top = `${event.clientY - top}px`;
  };

  // Around a point of the drawing, which stays where it is.
  const zoom = (factor, x = WIDTH / 2, y = HEIGHT / 2) => {
    const k = Math.min(mostZoom, Math.max(1, view.k * factor));
    view.x = x - ((x - view.x) * k) / view.k;
    view.y = y - ((y - view.y) * k) / view.k;
    view.k = k;
    moveSoon();
  };

  // Towards the data: the mark in view that is nearest to the middle of all in view.
  const zoomToData = (factor) => {
    const inView = level.at.filter(isInView);
    const mean = (axis) => inView.reduce((sum, at) => sum + at[axis], 0) / inView.length;
    const [x, y] = [mean(0), mean(1)];
    const far = (at) => Math.hypot(at[0] - x, at[1] - y);
    const middle = inView.reduce((best, at) => (best === undefined || far(at) < far(best) ? at : best), undefined);
    if (middle !== undefined) {
      view.x = WIDTH / 2 - middle[0] * view.k;
      view.y = HEIGHT / 2 - middle[1] * view.k;
    }
    zoom(factor);
  };

  const pointOf = ({ clientX, clientY }) => {
    const { left, top } = drawing.getBoundingClientRect();
    return [(clientX - left) * unit(), (clientY - top) * unit()];
  };

  // One pointer drags, two zoom.
  const pointers = new Map();
  const spread = ([a, b]) => Math.hypot(a[0] - b[0], a[1] - b[1]);
  drawing.addEventListener('pointerdown', (event) => pointers.set(event.pointerId, pointOf(event)));
  for (const end of ['pointerup', 'pointercancel', 'pointerleave']) {
    drawing.addEventListener(end, (event) => {
      pointers.delete(event.pointerId);
      if (end === 'pointerleave') hint.hidden = true;
    });
  }
  drawing.addEventListener('pointermove', (event) => {
    const before = pointers.get(event.pointerId);
    if (before === undefined) return describe(event);
    const now = pointOf(event);
    const old = [...pointers.values()];
    pointers.set(event.pointerId, now);
    if (old.length === 2) return zoom(spread([...pointers.values()]) / (spread(old) || 1), now[0], now[1]);
    if (view.k === 1) return;
    view.x += now[0] - before[0];
    view.y += now[1] - before[1];
    moveSoon();
  });
  drawing.addEventListener('click', describe);
  drawing.addEventListener('dblclick', (event) => zoom(2, ...pointOf(event)));
  // Where there is nothing to zoom out of, the wheel scrolls the page.
  drawing.addEventListener(
    'wheel',
    (event) => {
      if (event.deltaY >= 0 && view.k === 1) return;
      event.preventDefault();
      zoom(event.deltaY < 0 ? 1.25 : 0.8, ...pointOf(event));
    },
    { passive: false },
  );
  drawing.addEventListener('keydown', (event) => {
    const step = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] }[event.key];
    if (event.key === '+' || event.key === '=') zoomToData(1.6);
    else if (event.key === '-') zoom(1 / 1.6);
    else if (event.key === '0') zoom(0);
    else if (step !== undefined && view.k > 1) {
      view.x += step[0];
      view.y += step[1];
      moveSoon();
    } else return;
    event.preventDefault();
  });
  drawing.setAttribute('tabindex', '0');
  byId('zoom-in').addEventListener('click', () => zoomToData(1.6));
  byId('zoom-out').addEventListener('click', () => zoom(1 / 1.6));
  byId('zoom-reset').addEventListener('click', () => zoom(0));
  new ResizeObserver(moveSoon).observe(drawing);

  for (const row of perils) {
    const head = row.querySelector('th');
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = head.textContent;
    head.replaceChildren(button);
    row.addEventListener('click', () => {
      // A second click goes to the highest rating of all hazards.
      topic.value = topic.value === row.dataset.layer ? '0' : row.dataset.layer;
      show();
    });
  }
  controls.addEventListener('change', show);
  controls.addEventListener('submit', (event) => event.preventDefault());
  const chosen = data.layers.findIndex(({ name }) => name === state.topic);
  if (chosen >= 0) topic.value = String(chosen);
  const by = controls.querySelector(`input[name=measure][value=${state.measure}]`);
  if (by !== null) by.checked = true;
  show();
}
