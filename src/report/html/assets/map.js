// The map: topic and measure, zoom, the level of detail and the names that fit it. `state` is what was chosen: it outlives the drawing.
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
  const levelInView = () =>
    data.levels.findLast(({ radius }) => (radius * view.k) / unit() >= 6) ?? data.levels[0];

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
    const shrink = data.kind === 'point' ? Math.min(1.7, Math.max(1, unit())) / view.k ** 0.9 : 1;
    const boxes = [];
    let drawn = '';
    for (const [bin, at] of level.at.entries()) {
      if (!isInView(at)) continue;
      const share = answered[bin] / level.rows[bin];
      const size = level.most * (0.56 + 0.44 * (Number(level.sizes[by][bin]) / 9)) * shrink;
      const dim = state.county && level.counties[level.county[bin]] !== state.county ? ' dim' : '';
      const use = (tone, scale) =>
        `<use href="#mark" class="t-${tone}${dim}" data-bin="${bin}" transform="translate(${at[0]} ${at[1]})scale(${scale.toFixed(2)})"/>`;
      boxes.push({ x: at[0], y: at[1], half: size, high: size });
      const isPart = share > 0 && share < 1;
      if (isPart) drawn += use('unanswered', size);
      drawn += use(
        tones[Number(letters[bin])],
        isPart ? size * Math.max(0.45, Math.sqrt(share)) : size,
      );
    }
    marks.innerHTML = drawn;
    for (const [index, text] of level.legend[by].entries()) {
      const shown = sizes[index];
      shown.textContent = text;
      shown.parentElement.hidden = text === '';
    }
    return boxes;
  };

  // Close enough to tell single places apart.
  const isClose = () => view.k > mostZoom / 2;
  const drawNames = (boxes) => {
    const scale = unit() / view.k;
    const [right, top] = [(WIDTH - view.x) / view.k, -view.y / view.k];
    const buttons = {
      x: right - 75 * scale,
      y: top + 22 * scale,
      half: 75 * scale,
      high: 22 * scale,
    };
    const isInside = ({ x, y, half }) =>
      (x - half) * view.k + view.x > 0 && (x + half) * view.k + view.x < WIDTH && isInView([x, y]);
    const ids = isClose() ? data.finds.filter(([kind]) => kind === 'location') : [];
    const named = [...ids.map(([, name, x, y]) => ['city', escaped(name), x, y, WIDTH]), ...names];
    // Hexagons cover the land, and names stand on them.
    const dots = data.kind === 'point' ? boxes : [];
    layer.innerHTML = namesWithRoom(named, { dots, buttons, scale, isInside }).join('');
  };

  const move = () => {
    view.x = Math.min(0, Math.max(WIDTH * (1 - view.k), view.x));
    view.y = Math.min(0, Math.max(HEIGHT * (1 - view.k), view.y));
    world.setAttribute('transform', `translate(${view.x} ${view.y})scale(${view.k})`);
    drawing.style.setProperty('--unit', unit() / view.k);
    drawing.classList.toggle('zoomed', view.k > 1);
    hint.hidden = true;
    level = levelInView();
    drawNames(drawMarks());
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
    for (const legend of root.querySelectorAll('.legend'))
      legend.hidden = legend.dataset.scale !== scale;
    for (const row of perils) {
      const isShown = row.dataset.layer === topic.value;
      row.classList.toggle('chosen', isShown);
      row.querySelector('button').setAttribute('aria-pressed', String(isShown));
    }
    const by = measure() === 'value' ? 'value' : 'locations';
    byId('map-shows').textContent = `Shown: ${name}, by ${by}.`;
    move();
  };

  // What the reader chose outlives the drawing; what a drawing began with does not.
  const choose = () => {
    Object.assign(state, { topic: data.layers[Number(topic.value)].name, measure: measure() });
    show();
  };

  // At a mark, x and y on the screen: its county, then the mark.
  const describe = (bin, x, y) => {
    hint.hidden = bin === undefined;
    if (bin === undefined) return;
    const index = Number(topic.value);
    const { name, scale } = data.layers[index];
    const rows = level.rows[bin];
    const answered = level.answered[level.answeredOf[index]][bin];
    const worth = level.worth === null ? '' : `, ${level.worth[bin]}`;
    const typical =
      data.classes[scale][Number((level.letters[measure()] ?? level.letters.rows)[index][bin])];
    const county = level.counties[level.county[bin]];
    const says =
      answered === 0
        ? typical.toLowerCase()
        : `${grouped.format(answered)} of ${grouped.format(rows)} ${data.known[scale]}: ${typical}`;
    const here = `${grouped.format(rows)} location${rows === 1 ? '' : 's'}${worth}. ${name}: ${says}`;
    const whole = data.counties[county];
    hint.textContent =
      whole === undefined
        ? `${county === '' ? '' : `${county}: `}${here}`
        : `${whole}\nHere: ${here}`;
    const { left, top, width } = box.getBoundingClientRect();
    hint.classList.toggle('to-left', x - left > width / 2);
    hint.style.left = `${x - left}px`;
    hint.style.top = `${y - top}px`;
  };
  const describeAt = ({ target, clientX, clientY }) =>
    describe(target.closest('use')?.dataset.bin, clientX, clientY);

  // The next of the largest counties, or the one before, in the middle where it was out of view.
  let shownCounty = -1;
  const showCounty = (step) => {
    const largest = Object.keys(data.counties).filter((name) => level.counties.includes(name));
    if (largest.length === 0) return;
    shownCounty =
      (Math.max(shownCounty, step < 0 ? 0 : -1) + step + largest.length) % largest.length;
    const bin = level.county.indexOf(level.counties.indexOf(largest[shownCounty]));
    const [x, y] = level.at[bin];
    if (!isInView(level.at[bin]))
      Object.assign(view, { x: WIDTH / 2 - x * view.k, y: HEIGHT / 2 - y * view.k });
    move();
    const { left, top } = drawing.getBoundingClientRect();
    describe(bin, left + (x * view.k + view.x) / unit(), top + (y * view.k + view.y) / unit());
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
    const middle = inView.reduce(
      (best, at) => (best === undefined || far(at) < far(best) ? at : best),
      undefined,
    );
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
    if (before === undefined) return describeAt(event);
    const now = pointOf(event);
    const old = [...pointers.values()];
    pointers.set(event.pointerId, now);
    if (old.length === 2)
      return zoom(spread([...pointers.values()]) / (spread(old) || 1), now[0], now[1]);
    if (view.k === 1) return;
    view.x += now[0] - before[0];
    view.y += now[1] - before[1];
    moveSoon();
  });
  drawing.addEventListener('click', describeAt);
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
    const step = {
      ArrowLeft: [60, 0],
      ArrowRight: [-60, 0],
      ArrowUp: [0, 60],
      ArrowDown: [0, -60],
    }[event.key];
    if (event.key === '+' || event.key === '=') zoomToData(1.6);
    else if (event.key === '-') zoom(1 / 1.6);
    else if (event.key === '0') zoom(0);
    else if (event.key === 'n' || event.key === 'p') showCounty(event.key === 'n' ? 1 : -1);
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
  byId('zoom-reset').addEventListener('click', () => {
    find.value = '';
    goTo('');
  });
  new ResizeObserver(moveSoon).observe(drawing);

  // What is looked for: a county fills the middle of the map, a city or a location is in the middle. Marks of other counties fade.
  const find = byId('map-find');
  const found = byId('map-found');
  const counties = new Set(data.levels.flatMap((one) => one.counties));
  const targets = [
    ...[...counties].filter(Boolean).map((name) => ({ kind: 'county', name, county: name })),
    ...data.finds.map(([kind, name, x, y, county]) => ({ kind, name, x, y, county })),
  ];
  const listed = targets.filter(({ kind }) => kind !== 'location').map(({ name }) => name);
  for (const name of listed.sort()) {
    const option = document.createElement('option');
    option.value = name;
    byId('map-finds').append(option);
  }
  const lookAt = ([left, top, right, bottom], most) => {
    const wide = (WIDTH * 0.5) / (right - left || 1);
    const high = (HEIGHT * 0.5) / (bottom - top || 1);
    const k = Math.min(most, Math.max(1, Math.min(wide, high)));
    const [x, y] = [(left + right) / 2, (top + bottom) / 2];
    Object.assign(view, { k, x: WIDTH / 2 - x * k, y: HEIGHT / 2 - y * k });
  };
  const marksOf = (county) => {
    const finest = data.levels.at(-1);
    const edge = finest.radius || 4;
    const at = finest.at.filter((_, bin) => finest.counties[finest.county[bin]] === county);
    const [xs, ys] = [at.map(([x]) => x), at.map(([, y]) => y)];
    return [
      Math.min(...xs) - edge,
      Math.min(...ys) - edge,
      Math.max(...xs) + edge,
      Math.max(...ys) + edge,
    ];
  };
  const textOf = ({ kind, name, county }) => {
    const sums = data.counties[county] ?? `${county}: not among the counties of the tables.`;
    return kind === 'county' ? sums : `${name} is in ${sums}`;
  };
  const goTo = (text) => {
    const word = text.trim().toLowerCase();
    const isIt = ({ name }) => name.toLowerCase() === word;
    const begins = ({ name }) => name.toLowerCase().startsWith(word);
    const target = word === '' ? undefined : (targets.find(isIt) ?? targets.find(begins));
    state.find = target?.name ?? '';
    state.county = target?.county ?? '';
    found.hidden = word === '';
    if (target === undefined) {
      found.textContent = `No county, city or id on this map begins with "${text.trim()}". Cities have 10,000 people or more; ${data.kind === 'point' ? 'ids are those of all places' : 'ids are those of the listed locations'}.`;
      if (word === '') Object.assign(view, { x: 0, y: 0, k: 1 });
    } else {
      found.textContent = textOf(target);
      const { kind, x, y } = target;
      if (kind === 'county') lookAt(marksOf(target.county), 12);
      else lookAt([x, y, x, y], kind === 'city' ? mostZoom / 3 : mostZoom);
    }
    show();
  };
  find.addEventListener('change', (event) => {
    event.stopPropagation();
    goTo(find.value);
  });
  // The counties of the tables lead to the map.
  for (const cell of root.querySelectorAll('[data-county]')) {
    const name = cell.dataset.county;
    if (!counties.has(name)) continue;
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'to-map';
    button.title = 'Show on the map';
    button.textContent = cell.textContent;
    cell.replaceChildren(button);
    button.addEventListener('click', () => {
      find.value = name;
      goTo(name);
      byId('map').scrollIntoView({ block: 'start' });
      drawing.focus({ preventScroll: true });
    });
  }

  for (const row of perils) {
    const head = row.querySelector('th');
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = head.textContent;
    head.replaceChildren(button);
    row.addEventListener('click', () => {
      // A second click goes to the highest rating of all hazards.
      topic.value = topic.value === row.dataset.layer ? '0' : row.dataset.layer;
      choose();
    });
  }
  controls.addEventListener('change', choose);
  controls.addEventListener('submit', (event) => event.preventDefault());
  const chosen = data.layers.findIndex(({ name }) => name === state.topic);
  if (chosen >= 0) topic.value = String(chosen);
  const by = controls.querySelector(`input[name=measure][value=${state.measure}]`);
  if (by !== null) by.checked = true;
  find.value = state.find ?? '';
  show();
}
