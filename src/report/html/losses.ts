import { amount, grouped } from '../../base/format-numbers.ts';
import { topicOf } from '../../contract/topics.ts';
import { type Facts, lineText, percent } from '../figures/facts.ts';
import type { LossFacts } from '../figures/loss-facts.ts';
import { block, capital, type Html, html, isolateText, section, shareCell, table } from './html.ts';

/** What the book is expected to lose in a year: by peril, by county, and the places that lose most. */
export function lossesSection(facts: Facts): Html | null {
  const { losses } = facts;
  if (losses === null) return null;
  return section(
    'losses',
    'Expected annual loss',
    html`${lossOfBook(facts, losses)}
${perilsTable(facts, losses)}
${countiesTable(facts, losses)}
${placesTable(facts, losses)}`,
  );
}

function lossOfBook({ currency, all }: Facts, losses: LossFacts): Html {
  const { annualLoss, value, allValue, valueName } = losses;
  if (value === 0)
    return html`<p class="says">No place has a loss rate, so the expected loss is unknown.</p>`;
  return html`<p><b>${amount(annualLoss, currency)} a year, ${ofValue(annualLoss, value)} of the value</b> of ${isolateText(valueName)}. ${percent(value, allValue)} of it (${amount(value, currency)}) has a rate, at ${grouped(all.locations)} locations in all.</p>
<p class="says">FEMA's rates are those of all buildings of a tract or county, from history and models: they compare books and places. They are no price of a house, know no deductibles, and say nothing of the worst years.</p>`;
}

/** A rate in per cent with two digits: 0.033 %. */
function ofValue(annualLoss: number, value: number): string {
  const share = value === 0 ? 0 : (100 * annualLoss) / value;
  // JavaScript writes smaller numbers with an exponent.
  if (share > 0 && share < 1e-6) return '<0.000001 %';
  return `${share === 0 ? '0' : Number(share.toPrecision(2))} %`;
}

function perilsTable({ currency }: Facts, { perils, annualLoss, value }: LossFacts): Html | false {
  if (perils.length === 0) return false;
  const heads = html`<th scope="col">Peril</th><th scope="col" class="n">Loss a year</th><th scope="col" class="n">Of the value</th><th scope="col" class="n">Share</th>`;
  const lines = perils.map(
    ({ title, annualLoss: own }) =>
      html`<tr><th scope="row">${title}</th><td class="n">${amount(own, currency)}</td><td class="n">${ofValue(own, value)}</td>${shareCell(own, annualLoss, '5')}</tr>\n`,
  );
  return block(
    'By peril: expected loss',
    html`The largest first. Perils without a loss rate, such as drought, are left out.`,
    table('Expected annual loss by peril', heads, lines, 'losses'),
  );
}

function countiesTable(facts: Facts, { counties, annualLoss }: LossFacts): Html | false {
  const { currency } = facts;
  const { largest, others } = counties;
  if (largest.length === 0) return false;
  const heads = html`<th scope="col">County</th><th scope="col" class="n">Locations</th><th scope="col" class="n">Value</th><th scope="col" class="n">Loss a year</th><th scope="col" class="n">Of the value</th><th scope="col" class="n">Share</th>`;
  const cells = (county: (typeof largest)[number]) =>
    html`<td class="n">${grouped(county.locations)}</td><td class="n">${amount(county.value, currency)}</td><td class="n">${amount(county.annualLoss, currency)}</td><td class="n">${ofValue(county.annualLoss, county.value)}</td>${shareCell(county.annualLoss, annualLoss, '5')}`;
  const lines = largest.map(
    (county) =>
      html`<tr><th scope="row" data-county="${county.name}">${county.name}</th>${cells(county)}</tr>\n`,
  );
  const rest =
    others !== null &&
    html`<tr class="rest"><th scope="row">${others.name}</th>${cells(others)}</tr>\n`;
  return block(
    'By county: expected loss',
    html`Locations with a rate, the largest loss first.`,
    table('Expected annual loss by county', heads, [...lines, rest], 'areas'),
  );
}

function placesTable({ currency, unit }: Facts, { locations }: LossFacts): Html | false {
  if (locations.length === 0) return false;
  const heads = html`<th scope="col">Location</th><th scope="col" class="n">${capital(unit)} of the file</th><th scope="col" class="n">Value</th><th scope="col" class="n">Loss a year</th><th scope="col" class="n">Of the value</th><th scope="col">Most of it</th>`;
  const lines = locations.map((place) => {
    const { id, name, lat, lng, county, value, annualLoss, peril } = place;
    const texts = [id, name].filter(Boolean).join(' · ');
    const most = `${topicOf(peril.topic).title} ${percent(peril.annualLoss, annualLoss, 0)}`;
    return html`<tr><th scope="row">${texts !== '' && html`${isolateText(texts)} `}<small>${lat}, ${lng}${county !== '' && ` · ${county}`}</small></th><td class="n">${lineText(place)}</td><td class="n">${amount(value, currency)}</td><td class="n">${amount(annualLoss, currency)}</td><td class="n">${ofValue(annualLoss, value)}</td><td>${most}</td></tr>\n`;
  });
  return block(
    'The largest expected losses',
    html`A place is one or more locations with the same rounded coordinates.`,
    table('The places with the largest expected annual losses', heads, lines, 'circles'),
  );
}
