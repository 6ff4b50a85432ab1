/** A preload that sets the process's clock, as a time server does: at each SIGUSR2 by the next of `DATE_JUMPS` (milliseconds,
 * separated by commas). Steady clocks and timers go on. */
const RealDate = Date;
const jumps = (process.env.DATE_JUMPS ?? '').split(',').map(Number);
let offset = 0;

class SetDate extends RealDate {
  constructor(...args: unknown[]) {
    if (args.length === 0) super(SetDate.now());
    else super(...(args as [number]));
  }

  static override now(): number {
    return RealDate.now() + offset;
  }
}

globalThis.Date = SetDate as DateConstructor;
process.on('SIGUSR2', () => {
  offset += jumps.shift() ?? 0;
});
