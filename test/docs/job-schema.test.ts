import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Ajv } from 'ajv';
import { parse } from 'yaml';
import { jobFileJsonSchema, jobFileSchema } from '../../src/job/job-file.ts';
import { ROOT } from '../cli/command-line.ts';
import { compare } from './quoted-sessions.ts';

const FILE = join(ROOT, 'jobs/job.schema.json');
const made = `${JSON.stringify(jobFileJsonSchema(), null, 2)}\n`;

test('jobs/job.schema.json is what the program checks job files by', () => {
  const found = existsSync(FILE) ? readFileSync(FILE, 'utf8') : '';
  compare(FILE, found, made, () => made);
});

test('every setting has a sentence that editors show', () => {
  const { properties } = jobFileJsonSchema() as {
    properties: Record<string, { description?: string }>;
  };
  assert.deepEqual(Object.keys(properties), Object.keys(jobFileSchema.shape));
  const silent = Object.entries(properties).filter(([, { description }]) => !description);
  assert.deepEqual(silent, []);
});

const lenient = {
  allErrors: true,
  strictRequired: false,
  allowUnionTypes: true,
  formats: { uri: true as const },
};
const validate = new Ajv({ strict: true, ...lenient }).compile(jobFileJsonSchema());
const jobs = readdirSync(join(ROOT, 'jobs')).filter((name) => name.endsWith('.yaml'));

for (const name of jobs) {
  test(`jobs/${name} names the schema, and keeps to it`, () => {
    const text = readFileSync(join(ROOT, 'jobs', name), 'utf8');
    assert.match(text, /^# yaml-language-server: \$schema=\.\/job\.schema\.json\n/);
    assert.ok(validate(parse(text)), JSON.stringify(validate.errors));
  });
}

test('the job file in docs/reference/job-file.md keeps to the schema', () => {
  const [, yaml] = /```yaml\n([\s\S]*?)```/.exec(
    readFileSync(join(ROOT, 'docs/reference/job-file.md'), 'utf8'),
  )!;
  assert.ok(validate(parse(yaml!)), JSON.stringify(validate.errors));
});

const settings: readonly (readonly [yaml: string, isRight: boolean])[] = [
  ['topics: wildfire', true],
  ['topics: [natural, park]', true],
  ['topics: wildfir', false],
  ['topcis: all', false],
  ['time_to_live: {wildfire: 30d, radon: never, all: 12 h}', true],
  ['time_to_live: {wildfire: soon}', false],
  ['time_to_live: {wildfir: 30d}', false],
  ['areas: county', true],
  ['areas: {tract: T}', false],
  ['service: sample', true],
  ['service: local', true],
  ['service: nearby', false],
  ['service: {base_url: "https://h.example", api_keys: [{env: A}]}', true],
  ['service: {base_url: "ftp://h.example"}', false],
  ['service: {base_url: "https://h.example", api_keys: [{key: secret}]}', false],
  ['service: {base_url: "https://h.example", api_keys: [{env: A, file: b}]}', false],
  ['subscription: {credits_per_month: 600, credits_per_minute: 1200}', true],
  ['subscription: gold', false],
  ['order_by: {column: value, direction: asc}', true],
  ['precision: 8', false],
  ['delimiter: "::"', false],
];

for (const [yaml, isRight] of settings) {
  test(`schema and program agree: ${yaml} is ${isRight ? 'right' : 'wrong'}`, () => {
    assert.equal(validate(parse(yaml)), isRight, JSON.stringify(validate.errors));
    assert.equal(jobFileSchema.safeParse(parse(yaml)).success, isRight);
  });
}
