import assert from 'node:assert/strict';

/** A sample of an OpenMetrics text: `name{label="value"} number`. */
interface MetricSample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const SAMPLE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/;
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/g;

/** Reads the samples of an OpenMetrics text. That the text keeps to the specification is prom-client's business, but for its end
 * and for a sample that is there twice. */
export function parseOpenMetrics(text: string): MetricSample[] {
  assert.ok(text.endsWith('# EOF\n'), 'the text ends with # EOF');
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('# '));
  assert.equal(
    new Set(lines.map((line) => line.replace(/ \S+$/, ''))).size,
    lines.length,
    'each sample is there once',
  );
  return lines.map((line) => {
    const [, name = '', labels = '', number = ''] =
      SAMPLE.exec(line) ?? assert.fail(`not a sample: ${line}`);
    const value = Number(number.replace('+Inf', 'Infinity'));
    assert.ok(!Number.isNaN(value), line);
    return {
      name,
      labels: Object.fromEntries([...labels.matchAll(LABEL)].map(([, key, of]) => [key, of])),
      value,
    };
  });
}

/** The value of a metric with these labels, besides others. */
export function metricValue(
  samples: readonly MetricSample[],
  name: string,
  labels: Record<string, string> = {},
): number | null {
  const fits = (sample: MetricSample) =>
    Object.entries(labels).every(([key, value]) => sample.labels[key] === value);
  return samples.find((sample) => sample.name === name && fits(sample))?.value ?? null;
}
