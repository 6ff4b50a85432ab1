const LINKS = 'Wine makes no symbolic links';

/** Tests that fail under Wine by no fault of the program: at most ten. */
export const WINE_LACKS: Readonly<Record<string, string>> = {
  'an old output in a folder on another disk, behind a link, is replaced': LINKS,
  'an output that is the input is refused, by whatever name': LINKS,
  'a link stays a link and what it points to is replaced, even when that is missing': LINKS,
  'a file of this machine: named once or twice it is one book; what is no file is refused': LINKS,
  'a file that is held for longer than the timeout is refused as busy':
    'the test removes a folder whose file a process still has open, which Windows refuses',
};
