/** The squared distance of the point 0,0 from the segment a-b. */
export function squaredDistanceFromOrigin(ax: number, ay: number, bx: number, by: number): number {
  const dx = bx - ax;
  const dy = by - ay;
  const length = dx * dx + dy * dy;
  const along = length === 0 ? 0 : Math.min(1, Math.max(0, -(ax * dx + ay * dy) / length));
  return (ax + along * dx) ** 2 + (ay + along * dy) ** 2;
}
