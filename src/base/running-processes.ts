import { randomUUID } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { resultOrNull } from './errors.ts';

let machine: string | undefined;

/** Names the machine, and in it the space of process numbers: containers that share a host's name may each have a process 1,
 * and know nothing of one another's. */
export function machineName(): string {
  // Linux alone has such spaces.
  machine ??=
    hostname() +
    (resultOrNull(() => `.${readlinkSync('/proc/self/ns/pid').replace(/\D/g, '')}`) ?? '');
  return machine;
}

/** Whether a process of this machine is running. True if that cannot be determined. */
export function isProcessRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

/** This process as the owner of claims. They name it, so that the claims of a killed process can be recognised. */
export function processOwner(): { readonly name: string; isAlive(owner: string): boolean } {
  return {
    name: `${machineName()}/${process.pid}/${randomUUID()}`,
    isAlive(owner) {
      const [machine, pid] = owner.split('/');
      return machine !== machineName() || isProcessRunning(Number(pid));
    },
  };
}

/** Tells this start of this machine from any other machine; null where the system has no such thing (it is Linux's). */
export function bootIdentity(): string | null {
  return resultOrNull(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim());
}
