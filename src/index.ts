/** Perilbook as a library. Nothing here reads the environment, prints, or ends the process; see docs/developer/library.md. */

export { type ErrorCode, type ErrorContext, PerilbookError } from './base/errors.ts';
export type { Hazards } from './columns/hazard-columns.ts';
export type { RowStatus } from './columns/row-status.ts';
export type { TopicSlug } from './contract/topics.ts';
export type { JobFile } from './job/job-file.ts';
export type { TopicName } from './job/topic-choice.ts';
export {
  type AnswerSource,
  type ClientSettings,
  createClient,
  local,
  sample,
} from './library/answer-source.ts';
export { type AnswerStore, openStore } from './library/answer-store.ts';
export {
  type AnswerSettings,
  type EnrichedRow,
  type EnrichOptions,
  enrich,
  type Located,
  type StreamSettings,
} from './library/enrich.ts';
export { lookup, type PlaceOptions } from './library/look-up-place.ts';
export { type JobOptions, plan, run } from './library/run-files.ts';
export type { ProgressSoFar, RunEvent } from './run/frame/run-events.ts';
export type { Stop } from './run/frame/stop.ts';
export type { RunResult } from './run/run-job.ts';
export type { PlanSummary, RunSummary } from './run/summary-shapes.ts';
