/** The zoom of the canvas, and moving it by dragging its background. */

import { type PointerEvent, useEffect, useRef, useState } from "react";

const SMALLEST = 0.25;
const LARGEST = 1.5;
const FACTOR = 1.2;

const within = (zoom: number) => Math.min(LARGEST, Math.max(SMALLEST, zoom));

/** `isShown` is false while the page shows the list instead. */
export function useCanvasView(isShown = true) {
  const canvas = useRef<HTMLDivElement>(null);
  const [zoom, setZoom] = useState(1);
  const held = useRef<{ x: number; y: number } | null>(null);
  useEffect(() => {
    const element = canvas.current;
    if (element === null) return undefined;
    // The TRIGGER is in the middle of most graphs, whose left half would be shown.
    element.scrollLeft = (element.scrollWidth - element.clientWidth) / 2;
    const onWheel = (event: WheelEvent) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      setZoom((before) => within(before * (event.deltaY < 0 ? FACTOR : 1 / FACTOR)));
    };
    // React listens passively, and could not keep the browser from zooming the page.
    element.addEventListener("wheel", onWheel, { passive: false });
    return () => element.removeEventListener("wheel", onWheel);
  }, [isShown]);

  const handlers = {
    onPointerDown(event: Drag) {
      const { target, currentTarget, clientX, clientY, pointerId, pointerType, button } = event;
      const isOnStep = target instanceof Element && target.closest("button") !== null;
      // A finger scrolls by itself.
      if (isOnStep || button !== 0 || pointerType !== "mouse") return;
      held.current = { x: clientX, y: clientY };
      currentTarget.setPointerCapture(pointerId);
    },
    onPointerMove({ currentTarget, clientX, clientY }: Drag) {
      if (held.current === null) return;
      currentTarget.scrollBy(held.current.x - clientX, held.current.y - clientY);
      held.current = { x: clientX, y: clientY };
    },
    onPointerUp() {
      held.current = null;
    },
    onPointerCancel() {
      held.current = null;
    },
  };

  return {
    canvas,
    zoom,
    handlers,
    zoomIn: () => setZoom((before) => within(before * FACTOR)),
    zoomOut: () => setZoom((before) => within(before / FACTOR)),
    /** Shows the whole graph, but never larger than it is. */
    fit(): void {
      const element = canvas.current;
      const sheet = element?.firstElementChild;
      if (!element || !(sheet instanceof HTMLElement)) return;
      const wide = element.clientWidth / Number.parseFloat(sheet.style.width);
      const high = element.clientHeight / Number.parseFloat(sheet.style.height);
      setZoom(within(Math.min(1, wide, high)));
    },
  };
}

type Drag = PointerEvent<HTMLDivElement>;
