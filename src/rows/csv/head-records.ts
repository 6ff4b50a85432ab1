import { isBlank, newRecordSpan, type Quoting, type RecordSpan, scanRecord } from '../../formats/csv/scan-records.ts';

/** The head of a file, which shows its dialect. */
export interface Head {
  readonly name: string;
  readonly bytes: Buffer;
  /** Where the table begins: after BOM and `sep=`, and after the lines above the header. */
  readonly from: number;
  readonly linesAbove: number;
  readonly isWhole: boolean;
}

/** The records in the head of a file, in one span. */
export function* recordsOf({ bytes, from, isWhole }: Head, delimiter: string, quoting: Quoting): Generator<RecordSpan> {
  const span = newRecordSpan(quoting);
  for (let at = from; at < bytes.length; at = span.next) {
    if (!scanRecord(bytes, at, bytes.length, isWhole, delimiter.charCodeAt(0), span)) return;
    if (!isBlank(span)) yield span;
  }
}
