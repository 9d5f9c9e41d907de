// Geometry of rings and lines. A ring's last point equals its first.

// The area inside the rings; holes wind in the opposite direction.
export function area(rings) {
  const doubled = rings.flatMap(linesOf).reduce((sum, [[x, y], [nextX, nextY]]) => sum + x * nextY - nextX * y, 0);
  return Math.abs(doubled) / 2;
}

// The straight lines between points, each as a pair of ends.
export function linesOf(points) {
  return points.slice(1).map((end, index) => [points[index], end]);
}

// The pairs of lines that cross, except at an endpoint. Each line is {ends}.
export function crossings(lines) {
  const ordered = lines.map((line) => {
    const xs = line.ends.map(([x]) => x);
    return { line, left: Math.min(...xs), right: Math.max(...xs) };
  }).sort((a, b) => a.left - b.left);
  const found = [];
  for (const [index, { line, right }] of ordered.entries()) {
    for (let next = index + 1; next < ordered.length && ordered[next].left <= right; next += 1) {
      const other = ordered[next].line;
      if (cross(line.ends, other.ends)) found.push([line, other]);
    }
  }
  return found;
}

function cross([a, b], [c, d]) {
  return side(a, b, c) * side(a, b, d) < 0 && side(c, d, a) * side(c, d, b) < 0;
}

// Positive, negative or zero: the side of the line from `a` to `b` on which `point` is.
function side(a, b, point) {
  return Math.sign((b[0] - a[0]) * (point[1] - a[1]) - (b[1] - a[1]) * (point[0] - a[0]));
}
