import { spawn } from 'node:child_process';

/** A program that is told the end of a run. */
export interface FinishProgram {
  readonly command: readonly string[];
  readonly folder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Gets what the program prints. */
  readonly onOutput: (text: string) => void;
}

/** A program that hangs must not keep a scheduler's job alive. */
const LONGEST_MS = 60_000;

/** Starts a program with a text on its standard input. @returns null when it ended with 0, else why not */
export function runProgram(
  { command: [program = '', ...args], folder, env, onOutput }: FinishProgram,
  input: string,
): Promise<string | null> {
  const signal = AbortSignal.timeout(LONGEST_MS);
  return new Promise((resolve) => {
    const child = spawn(program, args, { cwd: folder, env, stdio: ['pipe', 'pipe', 'pipe'], signal });
    child.on('error', (error: NodeJS.ErrnoException) =>
      resolve(signal.aborted ? `${program} did not end within 60 s` : `${program} cannot be started (${error.code})`),
    );
    child.on('close', (code, signal) => {
      if (code === 0) resolve(null);
      else resolve(`${program} ended with ${code === null ? `signal ${signal}` : `exit code ${code}`}`);
    });
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => onOutput(chunk.toString()));
    // A program may end without reading.
    child.stdin.on('error', () => {});
    child.stdin.end(input);
  });
}
