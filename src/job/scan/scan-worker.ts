/** A thread that scans segments of a file (`scan-segments.ts`). */
import { workerData } from 'node:worker_threads';
import { useCoverage } from '../../geo/us-coverage.ts';
import { openRowFile } from '../../rows/open-row-file.ts';
import { answerTasks } from '../../rows/threads/answer-tasks.ts';
import type { ScanThreadSetup } from './scan-segments.ts';
import { scanSegment } from './scanned-rows.ts';

const setup = workerData as ScanThreadSetup;
useCoverage(setup.coverage);
const opened = openRowFile(setup.input, setup.reading);

answerTasks(
  async (segment: Parameters<typeof scanSegment>[1]) => scanSegment((await opened).inSegments!, segment, setup),
  ({ cells, values }) => (values === null ? [cells.buffer] : [cells.buffer, values.buffer]),
);
