/** Tests that fail under Wine, or for want of what a Windows machine has, by no fault of the program: at most ten. */
export const WINE_LACKS: Readonly<Record<string, string>> = {};
