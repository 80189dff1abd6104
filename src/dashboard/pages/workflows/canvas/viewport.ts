/** The part of the picture that the canvas shows, and its limits. */

import type { Box } from "./layout.ts";

/** The point of the frame at which the picture begins, in pixels, and its zoom. */
export type View = { x: number; y: number; zoom: number };
type Size = { width: number; height: number };

export const LARGEST_ZOOM = 1.5;
/** At a smaller zoom the names of steps are hard to read. */
const READABLE_ZOOM = 0.8;
const SMALL_ZOOM = 0.25;
/** For graphs of hundreds of steps, which are shown as a whole with this. */
const SMALLEST_ZOOM = 0.02;
/** Room around the picture, to which it can be moved. */
const ROOM_PX = 1_000;
/** Distance of a step from the border of the frame when it is moved into view. */
const BORDER_PX = 24;

const fittingZoom = (picture: Size, frame: Size): number =>
  Math.min(1, frame.width / picture.width, frame.height / picture.height);

/** The whole graph if it is readable so; else its beginning, at full size. `start` is its first step. */
export function openingView(picture: Size, start: Box | undefined, frame: Size): View {
  const fitting = fittingZoom(picture, frame);
  if (fitting >= READABLE_ZOOM) {
    return { x: (frame.width - picture.width * fitting) / 2, y: 0, zoom: fitting };
  }
  const middle = start === undefined ? picture.width / 2 : start.x + start.width / 2;
  return { x: frame.width / 2 - middle, y: 0, zoom: 1 };
}

export const smallestZoom = (picture: Size, frame: Size): number =>
  Math.max(SMALLEST_ZOOM, Math.min(SMALL_ZOOM, fittingZoom(picture, frame)));

/** The left upper and the right lower corner of the area in which the frame can be. */
export const panBounds = ({ width, height }: Size): [[number, number], [number, number]] => [
  [-ROOM_PX, -ROOM_PX],
  [width + ROOM_PX, height + ROOM_PX],
];

/** The shortest move of the view that shows a box; [0, 0] if the frame shows it already. */
export function revealing(box: Box, { x, y, zoom }: View, frame: Size): [x: number, y: number] {
  return [
    shift(box.x * zoom + x, box.width * zoom, frame.width),
    shift(box.y * zoom + y, box.height * zoom, frame.height),
  ];
}

function shift(start: number, length: number, room: number): number {
  const toStart = BORDER_PX - start;
  const toEnd = room - BORDER_PX - (start + length);
  // A box that is larger than the frame is shown from its start.
  return Math.max(Math.min(0, toEnd), toStart);
}
