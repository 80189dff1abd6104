/** The lines of a message of any size: only the visible ones are in the document. */

import { useVirtualizer } from "@tanstack/react-virtual";
import { useRef } from "react";
import type { MessageLine, MessageLines } from "./message-lines.ts";

const LINE_PX = 20;
const OVERSCAN = 12;

export function LinesView(props: {
  lines: MessageLines;
  label: string;
  /** Breaks long lines instead of scrolling sideways. */
  isWrapped?: boolean;
}) {
  const { lines, label, isWrapped = false } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: lines.count,
    getScrollElement: () => scroller.current,
    estimateSize: () => LINE_PX,
    overscan: OVERSCAN,
    useFlushSync: false,
  });
  const items = virtual.getVirtualItems();
  const start = items[0]?.start ?? 0;
  const measure = isWrapped ? virtual.measureElement : undefined;
  return (
    <div
      className="lines"
      ref={scroller}
      tabIndex={0}
      role="region"
      aria-label={label}
      data-wrapped={isWrapped || undefined}
    >
      <div style={{ height: virtual.getTotalSize() }}>
        <div style={{ transform: `translateY(${start}px)` }}>
          {items.map(({ index }) => {
            const line = lines.at(index);
            return (
              <div
                key={index}
                ref={measure}
                data-index={index}
                className="message-line"
                data-kind={line.kind}
              >
                <LineText line={line} />
              </div>
            );
          })}
        </div>
      </div>
    </div>
  );
}

/** The name of a header field is marked. An empty line keeps its height. */
function LineText({ line }: { line: MessageLine }) {
  if (line.text === "") return "\u00a0";
  if (line.kind !== "header") return line.text;
  const colon = line.text.indexOf(":") + 1;
  return (
    <>
      <span className="header-name">{line.text.slice(0, colon)}</span>
      {line.text.slice(colon)}
    </>
  );
}
