/**
 * Places the steps of a workflow below each other, with dagre. The lines of a step leave it from left
 * to right in the order of its branches. The same graph always has the same picture.
 */

import { type EdgeLabel, Graph, type GraphLabel, layout, type NodeLabel } from "@dagrejs/dagre";

export type Point = { x: number; y: number };

/** A line from a step to another one, or to the open end of a branch. */
export type LaidWay = {
  key: string;
  from: string;
  /** The id of a step; null for an open end, which has the key of the line. */
  to: string | null;
  /** True if the word of a branch stands on the line. */
  hasWord: boolean;
};

/** The left upper corner of a box, and its size. */
export type Box = Point & { width: number; height: number };

export type Layout = {
  steps: ReadonlyMap<string, Box>;
  /** The boxes of open ends, by the keys of their lines. */
  ends: ReadonlyMap<string, Box>;
  lines: ReadonlyMap<string, readonly Point[]>;
  /** The boxes on the lines, for the word of a branch and the button. Lines without both have none. */
  labels: ReadonlyMap<string, Box>;
  width: number;
  height: number;
};

export const STEP_SIZE = { width: 224, height: 68 } as const;
export const BUTTON_SIZE = 24;
const WORD_SIZE = { width: 112, height: 20 } as const;
const WORD_GAP = 6;
const MARGIN = 24;
/** Smallest distance of a line from the corner of a step. */
const CORNER = 28;

/** `hasButtons` reserves room for the buttons that insert a step. */
export function layoutOf(
  steps: readonly string[],
  ways: readonly LaidWay[],
  hasButtons: boolean,
): Layout {
  const graph = new Graph<GraphLabel, NodeLabel, EdgeLabel>({ multigraph: true });
  const distances = { nodesep: 32, edgesep: 16, ranksep: 44 };
  graph.setGraph({ ...distances, rankalign: "top", marginx: MARGIN, marginy: MARGIN });
  for (const id of steps) graph.setNode(id, { ...STEP_SIZE });
  const known = ways.filter(({ from, to }) => graph.hasNode(from) && graph.hasNode(to ?? from));
  for (const { key, to } of known) {
    if (to === null) graph.setNode(key, { width: BUTTON_SIZE, height: BUTTON_SIZE });
  }
  for (const way of known) {
    const { key, from, to } = way;
    graph.setEdge(from, to ?? key, { ...labelSize(way, hasButtons), labelpos: "c" }, key);
  }
  // The branches keep their order, so that an edit moves no step to the other side.
  layout(graph, { disableOptimalOrderHeuristic: true });
  const boxOf = (key: string) => boxAround(graph.node(key));
  const lines = new Map<string, readonly Point[]>();
  const labels = new Map<string, Box>();
  for (const { key, from, to } of known) {
    const edge = graph.edge(from, to ?? key, key);
    const [start, end] = [boxOf(from), boxOf(to ?? key)];
    lines.set(key, from === to ? selfLine(start, edge) : lineBetween(start, end, edge));
    if (edge.width !== undefined && edge.width > 0) labels.set(key, boxAround(edge));
  }
  const { width = 0, height = 0 } = graph.graph();
  return {
    steps: new Map(steps.map((id) => [id, boxOf(id)])),
    ends: new Map(known.flatMap(({ key, to }) => (to === null ? [[key, boxOf(key)]] : []))),
    lines,
    labels,
    width,
    height,
  };
}

/** The word stands above the button. An open end has its button at the end of the line. */
function labelSize({ to, hasWord }: LaidWay, hasButtons: boolean) {
  const hasButton = hasButtons && to !== null;
  if (!hasWord) return hasButton ? { width: BUTTON_SIZE, height: BUTTON_SIZE } : {};
  const { width, height } = WORD_SIZE;
  return { width, height: hasButton ? height + WORD_GAP + BUTTON_SIZE : height };
}

/** dagre gives the centre of a box. */
function boxAround(found: NodeLabel | EdgeLabel): Box {
  const { x = 0, y = 0, width = 0, height = 0 } = found;
  return { ...rounded({ x: x - width / 2, y: y - height / 2 }), width, height };
}

const rounded = ({ x, y }: Point): Point => ({ x: Math.round(x), y: Math.round(y) });

/** dagre leads lines to the centres of boxes, which may meet a side or a corner of these. */
function lineBetween(start: Box, end: Box, { points = [] }: EdgeLabel): Point[] {
  const bends = points.slice(1, -1).map(rounded);
  const isDown = start.y < end.y;
  const at = (box: Box, point: Point | undefined, isLower: boolean): Point => {
    const inset = Math.min(CORNER, box.width / 2);
    const x = Math.max(box.x + inset, Math.min(box.x + box.width - inset, point?.x ?? box.x));
    return rounded({ x, y: isLower ? box.y + box.height : box.y });
  };
  return [at(start, points.at(0), isDown), ...bends, at(end, points.at(-1), !isDown)];
}

/** A line from a step to itself runs at its right, through the place that dagre gives to its label. */
function selfLine({ x, y, width, height }: Box, { x: labelX = 0 }: EdgeLabel): Point[] {
  const right = x + width;
  const lane = Math.round(Math.max(labelX, right + BUTTON_SIZE));
  const [lower, upper] = [y + height * 0.75, y + height * 0.25];
  return [
    { x: right, y: lower },
    { x: lane, y: lower },
    { x: lane, y: upper },
    { x: right, y: upper },
  ];
}

/** Curves between points at different heights, and straight lines beside each other. */
export function curveOf(points: readonly Point[]): string {
  return points
    .map(({ x, y }, i) => {
      const before = points[i - 1];
      if (before === undefined) return `M${x} ${y}`;
      if (before.x === x || before.y === y) return `L${x} ${y}`;
      const middle = (before.y + y) / 2;
      return `C${before.x} ${middle} ${x} ${middle} ${x} ${y}`;
    })
    .join(" ");
}
