// The map's controls. Without scripts the page shows everything but the other layers of the map.
(() => {
  const data = JSON.parse(document.getElementById('map-data').textContent);
  const controls = document.getElementById('map-controls');
  const topic = document.getElementById('map-topic');
  const drawing = document.getElementById('map-drawing');
  const marks = [...document.getElementById('map-marks').children];
  const places = marks.map((mark) => mark.getAttribute('transform').replace(/scale.*/, ''));
  const indexOf = new Map(marks.map((mark, index) => [mark, index]));
  const readout = document.getElementById('map-readout');
  const grouped = new Intl.NumberFormat('en-US');

  const measure = () => controls.querySelector('input[name=measure]:checked')?.value ?? 'rows';
  const layer = () => data.layers[Number(topic.value)];

  // As in map-figure.ts: by the square root, so that areas are proportional; one bin in twenty has the largest size.
  const sizes = (amounts) => {
    const sorted = [...amounts].sort((a, b) => a - b);
    const full = sorted[Math.floor((sorted.length - 1) * 0.95)] || 1;
    const { least, most } = data.marks;
    return amounts.map((amount) => {
      const part = full <= 1 && amount <= 1 ? 0 : Math.max(0, Math.min(1, amount / full));
      return Math.round((least + (most - least) * Math.sqrt(part)) * 10) / 10;
    });
  };

  const show = () => {
    const by = measure();
    const shown = layer();
    const tones = data.tones[shown.scale];
    const scaled = sizes(data[by]);
    for (const [index, mark] of marks.entries()) {
      mark.setAttribute('class', `t-${tones[Number(shown[by][index])]}`);
      mark.setAttribute('transform', `${places[index]}scale(${scaled[index]})`);
    }
    for (const legend of document.querySelectorAll('.legend')) legend.hidden = legend.dataset.scale !== shown.scale;
    const words = by === 'value' ? 'value' : 'locations';
    document.getElementById('map-shows').textContent = `Shown: ${shown.name}, by ${words}.`;
    readout.textContent = '';
  };

  const describe = (event) => {
    const index = indexOf.get(event.target.closest('use'));
    if (index === undefined) return;
    const shown = layer();
    const name = data.classes[shown.scale][Number(shown[measure()][index])];
    const value = data.value === null ? '' : `, value ${grouped.format(data.value[index])}`;
    const rows = data.rows[index];
    readout.textContent = `Here: ${grouped.format(rows)} location${rows === 1 ? '' : 's'}${value}; ${name}.`;
  };

  controls.addEventListener('change', show);
  controls.addEventListener('submit', (event) => event.preventDefault());
  drawing.addEventListener('pointerover', describe);
  drawing.addEventListener('click', describe);
  controls.hidden = false;
  show();
})();
