// The map's controls. Without scripts the page shows everything but the other layers of the map.
(() => {
  const data = JSON.parse(document.getElementById('map-data').textContent);
  const controls = document.getElementById('map-controls');
  const topic = document.getElementById('map-topic');
  const drawing = document.getElementById('map-drawing');
  const world = document.getElementById('map-world');
  const box = document.querySelector('.map-box');
  const hint = document.getElementById('map-hint');
  const perils = [...document.querySelectorAll('.perils tr[data-layer]')];
  const grouped = new Intl.NumberFormat('en-US');
  // Positions of the marks; the sizes change with the measure, the zoom and the share answered.
  const levels = data.levels.map((level, at) => {
    const marks = [...document.getElementById(`marks-${at}`).children];
    const places = marks.map((mark) => mark.getAttribute('transform').replace(/scale.*/, ''));
    return { ...level, marks, places, rings: document.getElementById(`rings-${at}`) };
  });
  const binOf = new Map(levels.flatMap((level) => level.marks.map((mark, bin) => [mark, { level, bin }])));

  const measure = () => controls.querySelector('input[name=measure]:checked')?.value ?? 'rows';

  // As in map-marks.ts.
  const sizes = (amounts, { least, most }) => {
    const sorted = [...amounts].sort((a, b) => a - b);
    const full = sorted[Math.floor((sorted.length - 1) * 0.95)] || 1;
    return amounts.map((amount) => {
      const part = full <= 1 && amount <= 1 ? 0 : Math.max(0, Math.min(1, amount / full));
      return least + (most - least) * Math.sqrt(part);
    });
  };

  const view = { x: 0, y: 0, k: 1 };

  const draw = () => {
    const by = measure();
    const index = Number(topic.value);
    const tones = data.tones[data.layers[index].scale];
    // Hexagons are areas and grow with the map. Dots are places and do not.
    const shrink = data.kind === 'point' ? 1 / view.k ** 0.75 : 1;
    for (const level of levels) {
      const letters = level.letters[by][index];
      const answered = level.answered[level.answeredOf[index]];
      const scaled = sizes(level[by], level);
      const rings = [];
      for (const [bin, mark] of level.marks.entries()) {
        const share = answered[bin] / level.rows[bin];
        const isPart = share > 0 && share < 1;
        const size = scaled[bin] * shrink;
        const drawn = isPart ? size * Math.max(0.45, Math.sqrt(share)) : size;
        mark.setAttribute('class', `t-${tones[Number(letters[bin])]}`);
        mark.setAttribute('transform', `${level.places[bin]}scale(${drawn.toFixed(2)})`);
        if (!isPart) continue;
        const ring = mark.cloneNode();
        ring.removeAttribute('class');
        ring.setAttribute('transform', `${level.places[bin]}scale(${size.toFixed(2)})`);
        binOf.set(ring, { level, bin });
        rings.push(ring);
      }
      for (const old of level.rings.children) binOf.delete(old);
      level.rings.replaceChildren(...rings);
    }
  };

  const show = () => {
    const by = measure();
    const { name, scale } = data.layers[Number(topic.value)];
    draw();
    for (const legend of document.querySelectorAll('.legend')) legend.hidden = legend.dataset.scale !== scale;
    for (const legend of document.querySelectorAll('.sizes'))
      legend.toggleAttribute('hidden', legend.dataset.by !== by);
    for (const row of perils) {
      const isShown = row.dataset.layer === topic.value;
      row.classList.toggle('chosen', isShown);
      row.querySelector('button').setAttribute('aria-pressed', String(isShown));
    }
    document.getElementById('map-shows').textContent = `Shown: ${name}, by ${by === 'value' ? 'value' : 'locations'}.`;
    hint.hidden = true;
  };

  const short = (value) => {
    const [per, unit] = [
      [1e12, ' tn'],
      [1e9, ' bn'],
      [1e6, ' m'],
      [1e3, ' k'],
    ].find(([least]) => value >= least * 0.9995) ?? [1, ''];
    return `${data.currency}${Number((value / per).toPrecision(3))}${unit}`;
  };

  const describe = (event) => {
    const found = binOf.get(event.target.closest('use'));
    hint.hidden = found === undefined;
    if (found === undefined) return;
    const { level, bin } = found;
    const index = Number(topic.value);
    const { name, scale } = data.layers[index];
    const rows = level.rows[bin];
    const answered = level.answered[level.answeredOf[index]][bin];
    const value = level.value === null ? '' : `, ${short(level.value[bin])}`;
    const typical = data.classes[scale][Number(level.letters[measure()][index][bin])];
    const locations = `${grouped.format(rows)} location${rows === 1 ? '' : 's'}${value}`;
    const said =
      answered === 0 ? 'not answered' : `${grouped.format(answered)} of ${grouped.format(rows)} answered: ${typical}`;
    hint.textContent = `${locations}. ${name}: ${said}`;
    const { left, top, width } = box.getBoundingClientRect();
    const x = event.clientX - left;
    hint.classList.toggle('to-left', x > width / 2);
    hint.style.left = `${x}px`;
    hint.style.top = `${event.clientY - top}px`;
  };

  const move = () => {
    view.x = Math.min(0, Math.max(960 * (1 - view.k), view.x));
    view.y = Math.min(0, Math.max(600 * (1 - view.k), view.y));
    world.setAttribute('transform', `translate(${view.x} ${view.y})scale(${view.k})`);
    drawing.style.setProperty('--k', view.k);
    drawing.classList.toggle('zoomed', view.k > 1);
    if (data.kind === 'point') draw();
  };

  // Around a point of the drawing, which stays where it is.
  const zoom = (factor, x = 480, y = 300) => {
    const k = Math.min(40, Math.max(1, view.k * factor));
    view.x = x - ((x - view.x) * k) / view.k;
    view.y = y - ((y - view.y) * k) / view.k;
    view.k = k;
    hint.hidden = true;
    move();
  };

  const pointOf = ({ clientX, clientY }) => {
    const { left, top, width } = drawing.getBoundingClientRect();
    const unit = 960 / width;
    return [(clientX - left) * unit, (clientY - top) * unit];
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
    move();
  });
  drawing.addEventListener('click', describe);
  drawing.addEventListener('dblclick', (event) => zoom(2, ...pointOf(event)));
  // A wheel alone scrolls the page.
  drawing.addEventListener(
    'wheel',
    (event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      zoom(event.deltaY < 0 ? 1.3 : 1 / 1.3, ...pointOf(event));
    },
    { passive: false },
  );
  drawing.addEventListener('keydown', (event) => {
    const step = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] }[event.key];
    if (event.key === '+' || event.key === '=') zoom(1.5);
    else if (event.key === '-') zoom(1 / 1.5);
    else if (event.key === '0') zoom(0);
    else if (step !== undefined && view.k > 1) {
      view.x += step[0];
      view.y += step[1];
      move();
    } else return;
    event.preventDefault();
  });
  drawing.setAttribute('tabindex', '0');
  document.getElementById('zoom-in').addEventListener('click', () => zoom(1.6));
  document.getElementById('zoom-out').addEventListener('click', () => zoom(1 / 1.6));
  document.getElementById('zoom-reset').addEventListener('click', () => zoom(0));

  for (const row of perils) {
    const head = row.querySelector('th');
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = head.textContent;
    head.replaceChildren(button);
    row.addEventListener('click', () => {
      // A second click goes back to the highest rating of all hazards.
      topic.value = topic.value === row.dataset.layer ? '0' : row.dataset.layer;
      show();
    });
  }
  controls.addEventListener('change', show);
  controls.addEventListener('submit', (event) => event.preventDefault());
  for (const hidden of document.querySelectorAll('.scripted')) hidden.hidden = false;
  show();
})();
