/** The graph of a workflow as a picture: to edit it, or with the way of one execution over it. */

import "./styles.ts";
import { ActionIcon } from "@mantine/core";
import { Background, ReactFlow, ReactFlowProvider, useReactFlow, useStore } from "@xyflow/react";
import { Maximize, ZoomIn, ZoomOut } from "lucide-react";
import {
  type FocusEvent,
  type KeyboardEvent,
  type RefObject,
  type TouchEvent,
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from "react";
import { createPortal } from "react-dom";
import type { WorkflowCounts } from "../../../../modules/workflows/count-model.ts";
import type { Graph } from "../editor/draft.ts";
import type { Fault } from "../editor/faults.ts";
import type { WayOut } from "../editor/graph-edits.ts";
import type { ExecutionPath } from "../execution-path.ts";
import type { Box } from "./layout.ts";
import { EDGE_TYPES, NODE_TYPES, type ShownSteps, ShownContext } from "./nodes.tsx";
import { edgesOf, pictureOf, shapeOf } from "./picture.ts";
import {
  LARGEST_ZOOM,
  openingView,
  panBounds,
  revealing,
  smallestZoom,
  type View,
} from "./viewport.ts";

type Props = {
  graph: Graph;
  counts: WorkflowCounts | undefined;
  path: ExecutionPath | null;
  /** Id of the step that is open. */
  open: string | undefined;
  faults: readonly Fault[];
  /** Names of templates, by their ids. */
  names: ReadonlyMap<string, string>;
  onOpen: (id: string) => void;
  /** Inserts a step there; null for readers. */
  onAdd: ((place: WayOut) => void) | null;
  /** True in a page that scrolls: the wheel and one finger then scroll the page, and not the graph. */
  isInPage?: boolean;
  /** The toolbar of the page for the buttons of the view, null until it is there; without, it has one. */
  toolbar?: HTMLElement | null;
};

export function Canvas(props: Props) {
  return (
    <ReactFlowProvider>
      <Picture {...props} />
    </ReactFlowProvider>
  );
}

const NONE: ReadonlySet<string> = new Set();
/** Distance that an arrow key moves the graph. */
const ARROW_PX = 60;
const ARROWS: Readonly<Record<string, readonly [x: number, y: number]>> = {
  ArrowLeft: [ARROW_PX, 0],
  ArrowRight: [-ARROW_PX, 0],
  ArrowUp: [0, ARROW_PX],
  ArrowDown: [0, -ARROW_PX],
};
/** A press that moves less than this is a click. */
const CLICK_PX = 4;

/** The library draws, moves and zooms; nothing is moved or connected by hand. */
const FIXED = {
  nodesDraggable: false,
  nodesConnectable: false,
  nodesFocusable: false,
  edgesFocusable: false,
  elementsSelectable: false,
  connectOnClick: false,
  disableKeyboardA11y: true,
  deleteKeyCode: null,
  selectionKeyCode: null,
  multiSelectionKeyCode: null,
  panActivationKeyCode: null,
  zoomOnScroll: false,
  panOnScrollSpeed: 1,
  zoomOnDoubleClick: false,
} as const;

function Picture({ isInPage = false, toolbar, ...shown }: Props) {
  const { graph, path, open, onAdd } = shown;
  const isEditable = onAdd !== null;
  const shape = shapeOf(graph);
  // oxlint-disable-next-line react-hooks/exhaustive-deps
  const picture = useMemo(() => pictureOf(graph, isEditable), [shape, isEditable]);
  const { nodes, layout } = picture;
  const taken = path?.transitions ?? NONE;
  const takenKey = JSON.stringify([...taken]);
  // oxlint-disable-next-line react-hooks/exhaustive-deps
  const edges = useMemo(() => edgesOf(picture, taken), [picture, takenKey]);
  const frame = useRef<HTMLDivElement>(null);
  const [opening, setOpening] = useState<Opening | null>(null);
  // The library needs the view that it begins with, which depends on the size of the frame.
  useLayoutEffect(() => {
    if (frame.current === null) return;
    const size = sizeOf(frame.current);
    const [start] = layout.steps.values();
    const view = openingView(layout, start, size);
    setOpening({ view, size });
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, []);
  const context = useShown(shown);
  const bounds = useMemo(() => panBounds(layout), [layout]);
  const { move, reveal } = useMoves(frame);
  useOpenStep(open === undefined ? undefined : layout.steps.get(open), reveal);

  function onFocus({ target }: FocusEvent): void {
    if (!target.matches(":focus-visible")) return;
    const id = target.closest(".react-flow__node")?.getAttribute("data-id");
    const node = nodes.find((each) => each.id === id);
    if (node === undefined) return;
    reveal({ ...node.position, width: node.width ?? 0, height: node.height ?? 0 });
  }
  function onKeyDown(event: KeyboardEvent): void {
    const arrow = ARROWS[event.key];
    if (arrow === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    move(arrow);
  }
  /** One finger scrolls the page; the library gets those of two. */
  function onTouchStart(event: TouchEvent): void {
    if (isInPage && event.touches.length === 1) event.stopPropagation();
  }

  return (
    <div
      className="canvas"
      data-in-page={isInPage || undefined}
      tabIndex={0}
      role="region"
      aria-label="Graph of the workflow"
      onFocus={onFocus}
      onKeyDown={onKeyDown}
    >
      {toolbar === undefined ? (
        <div className="canvas-bar" role="toolbar" aria-label="Tools">
          <ZoomButtons />
        </div>
      ) : (
        toolbar !== null && createPortal(<ZoomButtons />, toolbar)
      )}
      <div ref={frame} className="canvas-view" onTouchStartCapture={onTouchStart}>
        {opening !== null && (
          <ShownContext value={context}>
            <ReactFlow
              nodes={nodes}
              edges={edges}
              nodeTypes={NODE_TYPES}
              edgeTypes={EDGE_TYPES}
              defaultViewport={opening.view}
              minZoom={smallestZoom(layout, opening.size)}
              maxZoom={LARGEST_ZOOM}
              translateExtent={bounds}
              {...FIXED}
              panOnScroll={!isInPage}
              preventScrolling={!isInPage}
              paneClickDistance={CLICK_PX}
              attributionPosition="top-right"
              aria-label="Steps of the workflow"
            >
              <Background gap={20} size={2} />
            </ReactFlow>
          </ShownContext>
        )}
      </div>
    </div>
  );
}

type Opening = { view: View; size: ReturnType<typeof sizeOf> };

const sizeOf = ({ clientWidth, clientHeight }: Element) => ({
  width: clientWidth,
  height: clientHeight,
});

/** The contents of the steps. It is the same object until a part of it changes. */
function useShown({ graph, counts, path, open, faults, names, onOpen, onAdd }: Props): ShownSteps {
  const latest = useRef({ onOpen, onAdd });
  latest.current = { onOpen, onAdd };
  const openStep = useCallback((id: string) => latest.current.onOpen(id), []);
  const addStep = useCallback((place: WayOut) => latest.current.onAdd?.(place), []);
  return useMemo(
    () => ({
      steps: new Map(graph.steps.map((step) => [step.id, step])),
      counts: new Map(counts?.steps.map((each) => [each.stepId, each])),
      path,
      open,
      faulty: new Set(faults.map(({ step }) => step)),
      names,
      onOpen: openStep,
      onAdd: addStep,
    }),
    [graph, counts, path, open, faults, names, openStep, addStep],
  );
}

/** Moves the view by pixels, or by as many as show a box of the picture. */
function useMoves(frame: RefObject<HTMLDivElement | null>) {
  const flow = useReactFlow();
  function move([x, y]: readonly [number, number]): void {
    const view = flow.getViewport();
    void flow.setViewport({ ...view, x: view.x + x, y: view.y + y });
  }
  function reveal(box: Box): void {
    if (frame.current === null) return;
    move(revealing(box, flow.getViewport(), sizeOf(frame.current)));
  }
  return { move, reveal };
}

/** Shows the step that is open, also after a panel beside the canvas has taken some of its room. */
function useOpenStep(box: Box | undefined, reveal: (box: Box) => void): void {
  const isReady = useStore(({ panZoom }) => panZoom !== null);
  const width = useStore((store) => store.width);
  const height = useStore((store) => store.height);
  const place = box === undefined ? "" : `${box.x} ${box.y}`;
  useEffect(() => {
    if (isReady && box !== undefined) reveal(box);
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [place, isReady, width, height]);
}

function ZoomButtons() {
  const flow = useReactFlow();
  return (
    <>
      <Tool label="Smaller" icon={ZoomOut} run={() => flow.zoomOut()} />
      <Tool label="Larger" icon={ZoomIn} run={() => flow.zoomIn()} />
      <Tool
        label="Show the whole graph"
        icon={Maximize}
        run={() => flow.fitView({ padding: 0.04, maxZoom: 1 })}
      />
    </>
  );
}

function Tool(props: { label: string; icon: typeof ZoomIn; run: () => Promise<boolean> }) {
  const { label, icon: Icon, run } = props;
  return (
    <ActionIcon aria-label={label} title={label} onClick={() => void run()}>
      <Icon size={16} aria-hidden />
    </ActionIcon>
  );
}
