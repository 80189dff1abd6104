/** The nodes and edges of the picture of a graph, for the library that draws them. */

import { type Edge, MarkerType, type Node } from "@xyflow/react";
import { branchesOf, type Graph } from "../editor/draft.ts";
import { openEnds, type WayOut } from "../editor/graph-edits.ts";
import { numbersOf } from "../editor/outline.ts";
import { wayWord } from "../step-texts.ts";
import { type Box, type LaidWay, type Layout, layoutOf, type Point } from "./layout.ts";

export type StepNode = Node<{ step: string }, "step">;
/** The word of a branch on its line, and the button that inserts a step there. */
export type PlaceNode = Node<
  { place: WayOut; word: string | null; hasButton: boolean; isEnd: boolean },
  "place"
>;
export type CanvasNode = StepNode | PlaceNode;
export type LineEdge = Edge<{ points: readonly Point[]; isTaken: boolean; isEnd: boolean }, "line">;

/** A transition, or an open end, whose `to` is null. */
type DrawnWay = LaidWay & { place: WayOut; word: string | null; transition: string };

export type Picture = {
  layout: Layout;
  ways: readonly DrawnWay[];
  /** A step, then the places of its branches, in the order of the list of steps. */
  nodes: CanvasNode[];
};

const placeKey = ({ from, branch }: WayOut): string => JSON.stringify([from, branch]);

/** A text that is the same for graphs with the same picture: values of steps do not change it. */
export const shapeOf = (graph: Graph): string =>
  JSON.stringify([
    graph.steps.map((step) => [step.id, branchesOf(step)]),
    graph.transitions.map(({ id, from, to, branch }) => [id, from, to, branch]),
  ]);

/** `isEditable` adds the open ends, and the buttons that insert a step. */
export function pictureOf(graph: Graph, isEditable: boolean): Picture {
  const numbers = numbersOf(graph);
  const steps = graph.steps.toSorted(
    (a, b) => (numbers.get(a.id) ?? Infinity) - (numbers.get(b.id) ?? Infinity),
  );
  const ways = drawnWays({ ...graph, steps }, isEditable);
  const layout = layoutOf(
    steps.map(({ id }) => id),
    ways,
    isEditable,
  );
  const waysFrom = Map.groupBy(ways, ({ place }) => place.from);
  const nodes = steps.flatMap(({ id }): CanvasNode[] => {
    const box = layout.steps.get(id);
    if (box === undefined) return [];
    const places = (waysFrom.get(id) ?? []).flatMap((way) => placeNodes(way, layout, isEditable));
    return [{ id, type: "step", data: { step: id }, ...boxed(box) }, ...places];
  });
  return { layout, ways, nodes };
}

/** The ways out of each step in the order of its branches. */
function drawnWays(graph: Graph, isEditable: boolean): DrawnWay[] {
  const byId = new Map(graph.steps.map((step) => [step.id, step]));
  const places = graph.steps.flatMap((step) =>
    branchesOf(step).map((branch) => placeKey({ from: step.id, branch })),
  );
  const rank = new Map(places.map((key, i) => [key, i]));
  const ends = isEditable ? openEnds(graph) : [];
  return [...graph.transitions, ...ends.map((end) => ({ ...end, to: null, id: "" }))]
    .map(({ from, branch, to, id }) => {
      const place = { from, branch };
      const word = wayWord(byId.get(from), branch);
      const key = placeKey(place);
      return { key, from, to, place, word, hasWord: word !== null, transition: id };
    })
    .toSorted((a, b) => (rank.get(a.key) ?? Infinity) - (rank.get(b.key) ?? Infinity));
}

function placeNodes(way: DrawnWay, { labels, ends }: Layout, isEditable: boolean): PlaceNode[] {
  const { key, place, word, to } = way;
  const label = labels.get(key);
  const end = ends.get(key);
  const node = (id: string, box: Box, data: Omit<PlaceNode["data"], "place">): PlaceNode => ({
    id,
    type: "place",
    data: { place, ...data },
    ...boxed(box),
  });
  const hasButton = isEditable && to !== null;
  return [
    ...(label === undefined
      ? []
      : [node(`label ${key}`, label, { word, hasButton, isEnd: false })]),
    ...(end === undefined ? [] : [node(key, end, { word: null, hasButton: true, isEnd: true })]),
  ];
}

/** The library has the sizes at once, and need not measure the nodes before it shows them. */
const boxed = ({ x, y, width, height }: Box) => ({
  position: { x, y },
  width,
  height,
  measured: { width, height },
});

/** `taken` are the ids of the transitions of an execution. */
export function edgesOf({ layout, ways }: Picture, taken: ReadonlySet<string>): LineEdge[] {
  return ways.flatMap(({ key, from, to, transition }): LineEdge[] => {
    const points = layout.lines.get(key);
    if (points === undefined) return [];
    const isTaken = taken.has(transition);
    const isEnd = to === null;
    return [
      {
        id: key,
        type: "line",
        source: from,
        target: to ?? key,
        data: { points, isTaken, isEnd },
        ...(isEnd ? {} : { markerEnd: isTaken ? TAKEN_ARROW : ARROW }),
        // The list of steps names what follows each step.
        domAttributes: { "aria-hidden": true },
      },
    ];
  });
}

const arrow = (color: string) => ({
  type: MarkerType.ArrowClosed,
  color,
  width: 26,
  height: 26,
  markerUnits: "userSpaceOnUse",
});
const ARROW = arrow("var(--control-line)");
const TAKEN_ARROW = arrow("var(--accent)");
