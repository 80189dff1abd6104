/**
 * Places the steps of a workflow below each other: every edge leads down, except those that close a
 * cycle, which run at the right. Pure: the same graph always has the same picture.
 *
 * 1. layers.ts divides the graph into layers.
 * 2. The rows are sorted several times by the mean place of the neighbours, which removes crossings.
 * 3. Each row is placed below the mean of its neighbours, without overlaps.
 */

import { type Edge, type Layers, layersOf, type Slot } from "./layers.ts";

export type Point = { x: number; y: number };

export type Layout = {
  /** The left upper corner of each step, and of each open end. */
  places: ReadonlyMap<string, Point>;
  /** The points of each edge, by its id. */
  lines: ReadonlyMap<string, readonly Point[]>;
  width: number;
  height: number;
};

export const STEP_SIZE = { width: 224, height: 68 } as const;
/** Between two rows there is room for the word of a branch and a button. */
export const GAP = { x: 32, y: 76 } as const;
const BEND_WIDTH = 24;
const END_WIDTH = 72;
const MARGIN = 24;
/** Distance between the lines of two cycles. */
const LANE = 28;
const SWEEPS = 6;

/** `ends` are those of the ids that are open ends of branches. */
export function layoutOf(
  ids: readonly string[],
  edges: readonly Edge[],
  ends: ReadonlySet<string> = new Set(),
): Layout {
  const layers = layersOf(ids, edges, ends);
  const neighbours = neighboursOf(layers);
  const rows = sorted(layers.rows, neighbours);
  const centres = placed(rows, neighbours);
  const left = Math.min(
    ...rows.flat().map((slot) => (centres.get(slot.key) ?? 0) - widthOf(slot) / 2),
    0,
  );
  const xOf = (key: string) => (centres.get(key) ?? 0) - left + MARGIN;
  const yOfRow = (row: number) => MARGIN + row * (STEP_SIZE.height + GAP.y);
  const rowOf = new Map(rows.flatMap((row, i) => row.map(({ key }) => [key, i] as const)));
  const yOf = (key: string) => yOfRow(rowOf.get(key) ?? 0);
  const places = new Map(
    ids.map((id) => {
      const width = ends.has(id) ? END_WIDTH : STEP_SIZE.width;
      return [id, { x: Math.round(xOf(id) - width / 2), y: yOf(id) }];
    }),
  );
  const right = Math.max(
    ...rows.flat().map((slot) => xOf(slot.key) + widthOf(slot) / 2),
    STEP_SIZE.width,
  );
  const lines = new Map<string, readonly Point[]>();
  for (const [id, path] of layers.pathOf) lines.set(id, lineOf(path, xOf, yOf));
  for (const [i, { id, from, to }] of layers.back.entries()) {
    lines.set(id, cycleLine(places.get(from), places.get(to), right + LANE * (i + 1)));
  }
  return {
    places,
    lines,
    width: Math.round(right + MARGIN + LANE * layers.back.length),
    height: yOfRow(rows.length) - GAP.y + MARGIN,
  };
}

type Neighbours = { above: Map<string, string[]>; below: Map<string, string[]> };

function neighboursOf({ links }: Layers): Neighbours {
  const above = new Map<string, string[]>();
  const below = new Map<string, string[]>();
  for (const { from, to } of links) {
    above.set(to, [...(above.get(to) ?? []), from]);
    below.set(from, [...(below.get(from) ?? []), to]);
  }
  return { above, below };
}

const widthOf = ({ isBend, isEnd }: Slot): number =>
  isBend ? BEND_WIDTH : isEnd ? END_WIDTH : STEP_SIZE.width;

/** Sorts the rows downwards and upwards in turn. Equal means keep the order of the graph. */
function sorted(given: readonly (readonly Slot[])[], { above, below }: Neighbours): Slot[][] {
  let rows = given.map((row) => [...row]);
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    const isDown = sweep % 2 === 0;
    const near = isDown ? above : below;
    let places = new Map<string, number>();
    const next = (isDown ? rows : rows.toReversed()).map((row) => {
      const current = new Map(row.map(({ key }, i) => [key, i]));
      const meanOf = ({ key }: Slot) =>
        mean((near.get(key) ?? []).map((other) => places.get(other) ?? 0)) ?? current.get(key) ?? 0;
      const ordered = row.toSorted((one, other) => meanOf(one) - meanOf(other));
      places = new Map(ordered.map(({ key }, i) => [key, i]));
      return ordered;
    });
    rows = isDown ? next : next.toReversed();
  }
  return rows;
}

/** The centre of each slot. */
function placed(rows: readonly (readonly Slot[])[], { above, below }: Neighbours) {
  const centres = new Map<string, number>();
  for (const row of rows) placeRow(row, centres, above);
  for (const row of rows.toReversed()) placeRow(row, centres, below);
  for (const row of rows) placeRow(row, centres, above);
  return centres;
}

/** Places a row at the means of its neighbours, and moves it as a whole where they overlap. */
function placeRow(
  row: readonly Slot[],
  centres: Map<string, number>,
  near: ReadonlyMap<string, readonly string[]>,
): void {
  let end = -Infinity;
  let moved = 0;
  const wanted: number[] = [];
  for (const slot of row) {
    const means = mean((near.get(slot.key) ?? []).map((key) => centres.get(key) ?? 0));
    const half = widthOf(slot) / 2;
    const want = means ?? centres.get(slot.key) ?? (end === -Infinity ? 0 : end + GAP.x + half);
    const centre = Math.max(want, end + GAP.x + half);
    moved += centre - want;
    wanted.push(centre);
    end = centre + half;
  }
  const shift = row.length === 0 ? 0 : moved / row.length;
  for (const [i, { key }] of row.entries()) centres.set(key, (wanted[i] ?? 0) - shift);
}

function mean(values: readonly number[]): number | null {
  if (values.length === 0) return null;
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** From the lower edge of a step through the bends to the upper edge of another one. */
function lineOf(
  path: readonly string[],
  xOf: (key: string) => number,
  yOf: (key: string) => number,
): Point[] {
  const last = path.length - 1;
  return path.flatMap((key, i) => {
    const x = Math.round(xOf(key));
    const top = { x, y: yOf(key) };
    const bottom = { x, y: yOf(key) + STEP_SIZE.height };
    if (i === 0) return [bottom];
    return i === last ? [top] : [top, bottom];
  });
}

/** From the right of a step over a lane at the right to the right of an earlier one. */
function cycleLine(from: Point | undefined, to: Point | undefined, lane: number): Point[] {
  if (from === undefined || to === undefined) return [];
  const middle = STEP_SIZE.height / 2;
  const x = Math.round(lane);
  return [
    { x: from.x + STEP_SIZE.width, y: from.y + middle },
    { x, y: from.y + middle },
    { x, y: to.y + middle },
    { x: to.x + STEP_SIZE.width, y: to.y + middle },
  ];
}
