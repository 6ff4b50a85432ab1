import assert from 'node:assert/strict';

/** A sample of an OpenMetrics text: `name{label="value"} number`. */
export interface MetricSample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const SAMPLE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/;
const LABEL = /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,(?=.)|$)/;

/** The endings that samples of a type add to its name (OpenMetrics 1.0, 5). */
const ENDINGS: Readonly<Record<string, readonly string[]>> = {
  gauge: [''],
  counter: ['_total', '_created'],
  histogram: ['_bucket', '_count', '_sum', '_created'],
};

/** Reads an OpenMetrics text and checks it by the rules of the specification. */
export function parseOpenMetrics(text: string): MetricSample[] {
  assert.ok(text.endsWith('# EOF\n'), 'the text ends with # EOF');
  const lines = text.slice(0, -'# EOF\n'.length).split('\n').slice(0, -1);
  const families = new Set<string>();
  const seen = new Set<string>();
  const samples: MetricSample[] = [];
  let family = null as { name: string; type: string } | null;
  for (const line of lines) {
    assert.ok(line !== '' && line !== '# EOF', 'no empty line, nothing after the end');
    const [, kind, name = '', rest = ''] = /^# (TYPE|HELP|UNIT) (\S+) ?(.*)$/.exec(line) ?? [];
    if (kind !== undefined) {
      assert.match(name, NAME);
      if (name !== family?.name) {
        assert.ok(!families.has(name), `the lines of ${name} are together`);
        families.add(name);
        family = { name, type: 'unknown' };
      }
      assert.ok(
        !samples.some((sample) => sample.name.startsWith(`${name}_`) || sample.name === name),
        'metadata is first',
      );
      if (kind === 'TYPE') family = { name, type: rest };
      if (kind === 'HELP') assert.doesNotMatch(rest.replace(/\\[\\n"]/g, ''), /\\/);
      continue;
    }
    const [, own = '', labelText = '', number = ''] = SAMPLE.exec(line) ?? assert.fail(`not a sample: ${line}`);
    assert.ok(family !== null && own.startsWith(family.name), `${own} has its metadata before it`);
    assert.ok(ENDINGS[family.type]?.includes(own.slice(family.name.length)), `${own} is no name for a ${family.type}`);
    const value = number === '+Inf' ? Number.POSITIVE_INFINITY : Number(number);
    assert.ok(!Number.isNaN(value), line);
    if (family.type === 'counter') assert.ok(value >= 0);
    const labels = labelsOf(labelText);
    const identity = own + JSON.stringify(Object.entries(labels).sort());
    assert.ok(!seen.has(identity), `${line} is there once`);
    seen.add(identity);
    samples.push({ name: own, labels, value });
  }
  checkHistograms(samples);
  return samples;
}

function labelsOf(text: string): Record<string, string> {
  const labels: Record<string, string> = {};
  for (let rest = text; rest !== ''; ) {
    const found = LABEL.exec(rest);
    assert.ok(found, `labels: ${text}`);
    const [whole, name, value] = found;
    assert.ok(!(name! in labels), `the label ${name} is there once`);
    labels[name!] = value!.replace(/\\(.)/g, (_, escaped) => (escaped === 'n' ? '\n' : escaped));
    rest = rest.slice(whole.length);
  }
  return labels;
}

/** Buckets only grow, and the last one, +Inf, has all. */
function checkHistograms(samples: readonly MetricSample[]): void {
  const buckets = samples.filter(({ name, labels }) => name.endsWith('_bucket') && 'le' in labels);
  const series = Map.groupBy(buckets, ({ name, labels: { le: _, ...labels } }) => name + JSON.stringify(labels));
  for (const one of series.values()) {
    const bounds = one.map(({ labels }) => Number(labels.le!.replace('+Inf', 'Infinity')));
    assert.deepEqual(
      bounds,
      [...bounds].sort((a, b) => a - b),
    );
    assert.equal(bounds.at(-1), Number.POSITIVE_INFINITY);
    const { le: _, ...labels } = one[0]!.labels;
    const count = samples.find(
      (sample) =>
        sample.name === one[0]!.name.replace('_bucket', '_count') &&
        JSON.stringify(sample.labels) === JSON.stringify(labels),
    );
    assert.equal(count?.value, one.at(-1)!.value);
    for (const [index, { value }] of one.entries()) assert.ok(index === 0 || value >= one[index - 1]!.value);
  }
}

/** The value of a metric with these labels, besides others. */
export function metricValue(
  samples: readonly MetricSample[],
  name: string,
  labels: Record<string, string> = {},
): number | null {
  const fits = (sample: MetricSample) => Object.entries(labels).every(([key, value]) => sample.labels[key] === value);
  return samples.find((sample) => sample.name === name && fits(sample))?.value ?? null;
}
