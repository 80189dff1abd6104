import type { ReactNode } from "react";
import type { Tone } from "./status.tsx";
import { Time } from "./time.tsx";

export type TimelineItem = {
  key: string;
  tone: Tone;
  title: ReactNode;
  at: string | number | null;
  /** In place of the time, which is told from now. */
  when?: ReactNode;
  /** More about it, such as the reply of a server. */
  detail?: ReactNode;
};

/** Lists events in their order, with a dot in the colour of each state. */
export function Timeline({ items, label }: { items: readonly TimelineItem[]; label: string }) {
  return (
    <ol className="timeline" aria-label={label}>
      {items.map(({ key, tone, title, at, when, detail }) => (
        <li key={key} data-tone={tone}>
          <div className="timeline-line">
            <strong>{title}</strong>
            <span className="muted small">{when ?? <Time at={at} />}</span>
          </div>
          {detail !== undefined && <div className="timeline-detail">{detail}</div>}
        </li>
      ))}
    </ol>
  );
}
