/** A claimed part. Each claim raises the version. */
export interface PartTicket {
  /** The output folder, as all processes that share the store name it. */
  readonly folder: string;
  /** The name of the part in the folder. */
  readonly part: string;
  readonly version: number;
}

export interface PartClaim extends PartTicket {
  /** The version that the caller has read, 0 for none: a part that has changed since then is not granted. */
  readonly version: number;
  readonly run: number;
  /** How long the claim holds without a renewal, in milliseconds. */
  readonly leaseMs: number;
}

/** The basis of a written part, and its file. */
export interface WrittenPart {
  /** Digest of the input part and of the output's settings. */
  readonly basis: string;
  /** Digest of the fields that were added to its rows. */
  readonly fields: string;
  /** Its writer's number (`startParts`): answers bought before a writer got its number are in what it writes. */
  readonly reading: number;
  /** The output file; a different file was not written by Perilbook. */
  readonly size: number;
  readonly mtimeMs: number;
  readonly rows: number;
}

export interface PartRecord {
  readonly part: string;
  readonly version: number;
  /** Whether a process that may be alive is writing it. */
  readonly isHeld: boolean;
  /** The record of its last writing; null if there is none. A claim does not change it, because the old file stays until it is replaced. */
  readonly written: WrittenPart | null;
}

/** A folder of parts as `status` shows it. */
export interface PartFolder {
  readonly folder: string;
  readonly job: string;
  /** The parts of the latest run: how many in all, written at least once, and being written. */
  readonly parts: number;
  readonly written: number;
  readonly writing: number;
}

/** Which parts of an output folder were written, and which are being written, so that several processes share the work. */
export interface PartStore {
  /** Records that a run begins to write parts. `reading` is higher for each writer of the folder; `gone` lists earlier written parts that
   * are not among these; their records are deleted. */
  startParts(
    folder: string,
    start: { readonly job: string; readonly parts: readonly string[] },
  ): Promise<{ readonly reading: number; readonly gone: readonly string[] }>;
  /** The recorded parts of a folder, or one of them. */
  parts(folder: string, part?: string): Promise<readonly PartRecord[]>;
  partFolders(filter?: { readonly job?: string }): Promise<readonly PartFolder[]>;
  /** Claims a part; null if another process has claimed, written or released it since the given version. */
  claimPart(claim: PartClaim): Promise<PartTicket | null>;
  /** Extends the lease; false where the claim was lost to another process. */
  renewPart(ticket: PartTicket, leaseMs: number): Promise<boolean>;
  /** Records the part as written and ends the claim; false where it was lost to another process. */
  finishPart(ticket: PartTicket, written: WrittenPart): Promise<boolean>;
  /** Ends the claim of a part that was not written. */
  releasePart(ticket: PartTicket): Promise<void>;
}
