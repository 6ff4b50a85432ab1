import { amount, counted, dateTime, grouped } from '../../base/format-numbers.ts';
import { ROW_STATUSES } from '../../columns/row-status.ts';
import { NO_OUTPUT } from '../../job/settings.ts';
import type { RatingFinding } from '../../report/figures/story.ts';
import { verificationText } from '../../run/plan/area-verification.ts';
import { allLocationsRejected, type RunResult } from '../../run/run-job.ts';
import { listed, percent, shownPath, wrapped } from './format.ts';
import { invalidRowsMessage, type OutputStyle, savingsMessage } from './plan-messages.ts';

/** The result of a run; what to do next comes last. */
export function runMessages(
  { summary, stop }: RunResult,
  again: string,
  folder: string,
  { width, color }: OutputStyle,
): { readonly facts: readonly string[]; readonly next: readonly string[] } {
  const { status, saved } = summary;
  const statuses = ROW_STATUSES.filter((name) => status[name] > 0).map((name) => `${grouped(status[name])} ${name}`);
  const pairs: (readonly [string, string])[] = [
    [
      summary.output_kept ? 'kept' : 'wrote',
      summary.output_kept
        ? `${outputName(summary.output, folder)} as it was: this run got no answer`
        : `${outputName(summary.output, folder)}: ${summary.parts === null ? '' : `${counted(summary.parts.total, 'part')}, `}${counted(summary.rows, 'row')}${statuses.length === 0 ? '' : ` (${statuses.join(', ')})`}`,
    ],
  ];
  const isLocal = summary.source.kind === 'local';
  if (!isLocal) {
    pairs.push(['planned', plannedMessage(summary)], ['spent', spentMessage(summary)]);
  }
  if (summary.credits_unknown > 0) {
    pairs.push([
      'unknown',
      `${counted(summary.credits_unknown, 'credit')} of calls without a usable answer; the provider may have charged them`,
    ]);
  }
  if (summary.areas) {
    const { areas_verified: verified, areas_differed: differed } = summary.areas;
    const each = summary.areas.each_place ? '; each place is bought for itself' : '';
    // A run that ends early has written rows of areas that it has not verified.
    const soFar = stop === null ? '' : ' so far';
    pairs.push(['areas', `${verificationText({ verified, differed })}${soFar}${each}`]);
  }
  const savings = savingsMessage(saved);
  if (!isLocal && savings !== '') pairs.push(['saved', savings]);
  if (summary.complete.rows < 1 && stop !== null) {
    pairs.push(['complete', completeMessage(summary.complete)]);
  }
  const facts = listed(pairs, '', width);
  if (summary.sample_data) facts.push('Sample data is made up: do not base decisions on it.');
  const next = [...invalidRowsMessage(summary), ...nextStep(stop, summary, again)];
  return { facts, next: next.map((line) => color('bold', line)) };
}

function outputName(output: string, folder: string): string {
  if (output === NO_OUTPUT) return 'no file';
  return output === '-' ? 'stdout' : shownPath(output, folder);
}

/** The price, and the part of it that this run was planned to spend. */
function plannedMessage({ credits, this_run }: RunResult['summary']): string {
  if (this_run.credits >= credits) return counted(credits, 'credit');
  return `${counted(this_run.credits, 'credit')} of ${grouped(credits)} for all places`;
}

/** A run may spend more than planned: a call may lack a topic that the plan expects. */
function spentMessage({ credits_spent: spent, credits_limit: limit, this_run }: RunResult['summary']): string {
  const more = spent - this_run.credits;
  if (more <= 0) return counted(spent, 'credit');
  const within = spent <= limit ? `, within the ${grouped(limit)} allowed` : '';
  return `${counted(spent, 'credit')}, ${grouped(more)} more than planned${within}: topics were asked again, or more places bought`;
}

/** The most important ratings, one per line. */
export function findingMessages(
  findings: readonly RatingFinding[],
  currency: string | null,
  width = Number.POSITIVE_INFINITY,
): string[] {
  const lines = findings.map(({ title, rating, rated, answered }) => {
    const worth = rated.value ? `, ${amount(rated.value, currency)} of value` : '';
    return `${title}: ${grouped(rated.locations)} of ${counted(answered.locations, 'answered location')} ${rating}${worth}`;
  });
  return lines.flatMap((line) => wrapped(line.split(' '), width, ' '));
}

function completeMessage({ rows, value }: RunResult['summary']['complete']): string {
  return `${percent(rows)} of locations${value === null ? '' : `, ${percent(value)} of value`}`;
}

function nextStep(
  stop: RunResult['stop'],
  { status, credits_spent, credits_unknown, credits_limit, source }: RunResult['summary'],
  again: string,
): string[] {
  switch (stop?.reason) {
    case undefined: {
      const failed = status.partial + status.failed + status.deferred;
      if (source.kind === 'local') {
        const rows = failed === 1 ? 'row lacks' : 'rows lack';
        return failed === 0 ? [] : [`${grouped(failed)} ${rows} answers: hazard_note says which data to get.`];
      }
      if (allLocationsRejected(status)) {
        const rows = status.rejected === 1 ? 'the one location' : `all ${grouped(status.rejected)} locations`;
        const doubt = 'If that is wrong, check base_url, run perilbook cache prune --rejected, then:';
        return [`The service rejected ${rows}; see hazard_note. ${doubt} ${again}`];
      }
      // A wrong address answers 404 to every call: to retry alone would never help.
      if (status.failed > 0 && status.failed === failed && status.ok === 0 && credits_spent === 0) {
        return [`No row got an answer; hazard_note says why. Check base_url, then: ${again}`];
      }
      return failed === 0 ? [] : [`${counted(failed, 'row')} not complete. To retry: ${again}`];
    }
    case 'quota':
      return [`${stop.message} The rest is deferred. To resume after ${dateTime(stop.resumeAfter!)}: ${again}`];
    case 'budget': {
      const spent = credits_spent + credits_unknown;
      if (spent === 0) return [`${stop.message} The rest is deferred. To resume with a larger budget: ${again}`];
      const left = counted(credits_limit - spent, 'credit');
      const unspent = spent < credits_limit ? ` It leaves ${left}, because the next call did not fit.` : '';
      return [`${stop.message}${unspent} The rest is deferred. To buy more: ${again}`];
    }
    case 'limit':
    case 'time':
      return [`${stop.message} The rest is deferred. To resume: ${again}`];
    case 'service_down':
      return [
        `${stop.message} To resume${stop.resumeAfter === null ? ' later' : ` after ${dateTime(stop.resumeAfter)}`}: ${again}`,
      ];
    case 'interrupted':
      return [
        `Interrupted. Answers that were ${source.kind === 'local' ? 'looked up' : 'bought'} are kept. To resume: ${again}`,
      ];
    case 'keys':
      return [`${stop.message} Check the keys of the job, then: ${again}`];
    case 'denied':
      return [`${stop.message} Then: ${again}`];
    case 'misdirected':
      return [`${stop.message} Check base_url, then: ${again}`];
    case 'store_moved':
      return [`${stop.message} [STORE_MOVED]`];
  }
}
