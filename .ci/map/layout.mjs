// Positions of everything on the map, in units of its viewBox.

export const SIZE = [1400, 1290];

// The radius of the Earth, and the location at the center of the projection.
const SCALE = 1235;
const MAIN = { center: [-98, 45], at: [772, 831], scale: SCALE };
// States shown elsewhere, and larger.
const INSETS = {
  "US-HI": { center: [-157.4, 20.6], at: [135, 1110], scale: 1.6 * SCALE },
  "US-PR": { center: [-66, 18.1], at: [1344, 1180], scale: 1.2 * SCALE },
};
INSETS["US-VI"] = INSETS["US-PR"];

// Boxes for states that are too small to click or tap: the code, and the upper left corner.
export const BOX = { width: 84, height: 60, radius: 10 };
const [COLUMN, ROW] = [BOX.width + 10, BOX.height + 10];
export const BOXES = [
  ...row(["US-HI", "US-AS", "US-GU", "US-MP"], 14, 1218),
  ...row(["CA-PE"], 1302, 758),
  ...row(["US-VT", "US-NH"], 1208, 868),
  ...row(["US-MA", "US-RI"], 1208, 868 + ROW),
  ...row(["US-CT", "US-NJ"], 1208, 868 + 2 * ROW),
  ...row(["US-DE", "US-MD"], 1208, 868 + 3 * ROW),
  ...row(["US-DC"], 1208, 868 + 4 * ROW),
  ...row(["US-PR", "US-VI"], 1208, 1218),
];

function row(codes, x, y) {
  return codes.map((code, index) => ({ code, x: x + index * COLUMN, y }));
}

// Returns the function that places a longitude and latitude of this state: Lambert's azimuthal equal-area projection.
export function projection(code) {
  const { center, at, scale } = INSETS[code] ?? MAIN;
  const [longitude, latitude] = center.map(radians);
  const [sin, cos] = [Math.sin(latitude), Math.cos(latitude)];
  return (point) => {
    const [east, north] = [radians(point[0]) - longitude, radians(point[1])];
    const toward = Math.cos(north) * Math.cos(east);
    const stretch = scale * Math.sqrt(2 / (1 + sin * Math.sin(north) + cos * toward));
    return [at[0] + stretch * Math.cos(north) * Math.sin(east), at[1] - stretch * (cos * Math.sin(north) - sin * toward)];
  };
}

function radians(degrees) {
  return (degrees * Math.PI) / 180;
}
