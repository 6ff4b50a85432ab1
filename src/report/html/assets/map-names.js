// The names on the map. A box is its middle with half its width and half its height, in units of the drawing.

// Where a name may stand: on which side of its point it begins, and pixels to the right and down.
const PLACES = {
  state: [0, -18, 18, -32, 32].flatMap((down) => [0, -24, 24].map((toRight) => [0, toRight, down])),
  city: [5, 16, 28].flatMap((gap) => [-1, 1].map((side) => [side, side * gap, 0])),
  county: [0, -16, 16].map((down) => [0, 0, down]),
};

// A text of the user's, as SVG has it.
export const escaped = (text) => text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);

const meets = (a) => (b) =>
  Math.abs(a.x - b.x) <= a.half + b.half && Math.abs(a.y - b.y) <= a.high + b.high;

// The names that have room, as texts of SVG: none on another, none across a dot or the buttons.
// `named`: kind, escaped name, place and width of the land, the most important first; `scale`: units in a pixel.
export function namesWithRoom(named, { dots, buttons, scale, isInside }) {
  const taken = [...dots, buttons];
  const isFree = (one) => isInside(one) && !taken.some(meets(one));
  // Below its middle is the line that a text stands on.
  const write = (kind, name, x, y, anchor = 'middle') =>
    `<text class="${kind}" text-anchor="${anchor}" x="${x}" y="${y + 4 * scale}">${name}</text>`;
  return named.flatMap(([kind, name, x, y, width]) => {
    const [half, high] = [name.length * (kind === 'state' ? 4.4 : 3.8) * scale, 8 * scale];
    if (width < 2 * half) return [];
    const boxOf = ([side, toRight, down]) => ({
      x: x + side * half + toRight * scale,
      y: y + down * scale,
      ...{ half, high, side },
    });
    const dot = { x, y, half: scale, high: scale };
    const hasDot = kind === 'city' && !dots.some(meets(dot));
    if (hasDot && !isFree(dot)) return [];
    // Farther from its place a name is read only beside the mark that covers it.
    const place = PLACES[kind]
      .slice(0, hasDot ? 2 : undefined)
      .map(boxOf)
      .find(isFree);
    if (place === undefined) return [];
    taken.push(place);
    const anchor = { [-1]: 'end', 0: 'middle', 1: 'start' }[place.side];
    const text = write(kind, name, place.x - place.side * half, place.y, anchor);
    if (!hasDot) return [text];
    taken.push(dot);
    return [write(kind, '·', x, y), text];
  });
}
