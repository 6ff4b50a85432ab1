/** A part that was claimed: whoever claims it next gets another version. */
export interface PartTicket {
  /** The output folder, as all processes that share the store name it. */
  readonly folder: string;
  /** The name of the part in the folder. */
  readonly part: string;
  readonly version: number;
}

export interface PartClaim extends PartTicket {
  /** The version that the caller has seen, 0 for none: a part that changed since is not granted. */
  readonly version: number;
  readonly run: number;
  /** How long the claim holds if its owner is not heard of again, in milliseconds. */
  readonly leaseMs: number;
}

/** What a written part was made from, and the file that it became. */
export interface WrittenPart {
  /** Digest of the input part and of what the output has besides answers. */
  readonly basis: string;
  /** Digest of the fields that were added to its rows. */
  readonly fields: string;
  /** Its writer's number (`startParts`): answers bought before a writer got its number are in what it writes. */
  readonly reading: number;
  /** The output file: a file that is another by now was not written by Perilbook. */
  readonly size: number;
  readonly mtimeMs: number;
  readonly rows: number;
}

export interface PartRecord {
  readonly part: string;
  readonly version: number;
  /** Whether a process that may be alive is writing it. */
  readonly isHeld: boolean;
  /** How it was written last; null where it never was. A claim does not change this, because the old file stays until it is replaced. */
  readonly written: WrittenPart | null;
}

/** A folder of parts as `status` shows it. */
export interface PartFolder {
  readonly folder: string;
  readonly job: string;
  /** The parts of the latest run: all, those that were written at least once, and those that are being written. */
  readonly parts: number;
  readonly written: number;
  readonly writing: number;
}

/** Which parts of an output folder were written, and which are being written, so that several processes share the work. */
export interface PartStore {
  /** Notes that a run begins to write parts. `reading` is higher for each writer of the folder; `gone` are the parts that were
   * written earlier and are not among these; they are forgotten. */
  startParts(
    folder: string,
    start: { readonly job: string; readonly parts: readonly string[] },
  ): Promise<{ readonly reading: number; readonly gone: readonly string[] }>;
  /** The parts of a folder that the store knows, or one of them. */
  parts(folder: string, part?: string): Promise<readonly PartRecord[]>;
  partFolders(filter?: { readonly job?: string }): Promise<readonly PartFolder[]>;
  /** Claims a part; null where another process has claimed, written or released it since the version that was seen. */
  claimPart(claim: PartClaim): Promise<PartTicket | null>;
  /** Extends the lease; false where the claim was lost to another process. */
  renewPart(ticket: PartTicket, leaseMs: number): Promise<boolean>;
  /** Records the part as written and ends the claim; false where it was lost to another process. */
  finishPart(ticket: PartTicket, written: WrittenPart): Promise<boolean>;
  /** Ends the claim of a part that was not written. */
  releasePart(ticket: PartTicket): Promise<void>;
}
