/** The frame of a section of a draft, and the outline of all of them. */

import { CircleCheck, CircleDashed, LoaderCircle, TriangleAlert } from "lucide-react";
import type { ReactNode } from "react";
import { type SectionKey, SECTIONS, type SectionState, type SectionStates } from "./sections.ts";

const MARKS = {
  DONE: { icon: CircleCheck, tone: "good", word: "Done" },
  OPEN: { icon: CircleDashed, tone: "open", word: "To do" },
  WARNING: { icon: TriangleAlert, tone: "held", word: "Look at it" },
  WAITING: { icon: LoaderCircle, tone: "open", word: "Not known yet" },
} as const;

function Mark({ status }: Pick<SectionState, "status">) {
  const { icon: Icon, tone, word } = MARKS[status];
  return <Icon size={17} className="draft-mark" data-tone={tone} aria-label={word} />;
}

const headingId = (section: SectionKey) => `section-${section}`;

export function Section(props: { section: SectionKey; state: SectionState; children: ReactNode }) {
  const { section, state, children } = props;
  const title = SECTIONS.find(({ key }) => key === section)?.title;
  return (
    <section className="card draft-section" aria-labelledby={headingId(section)}>
      <header className="draft-head">
        <Mark status={state.status} />
        <h2 id={headingId(section)} tabIndex={-1}>
          {title}
        </h2>
        <bdi className="draft-text muted cut" title={state.text}>
          {state.text}
        </bdi>
      </header>
      {children}
    </section>
  );
}

/** Shows a section and moves the focus to it. */
export function goToSection(section: SectionKey): void {
  const heading = document.getElementById(headingId(section));
  heading?.scrollIntoView({ block: "start" });
  heading?.focus({ preventScroll: true });
}

export function Outline({ states }: { states: SectionStates }) {
  return (
    <nav className="outline" aria-label="Sections of the campaign">
      <ol>
        {SECTIONS.map(({ key, title }) => (
          <li key={key}>
            <button type="button" className="outline-item" onClick={() => goToSection(key)}>
              <Mark status={states[key].status} />
              <span className="outline-title">{title}</span>
              <bdi className="muted small cut">{states[key].text}</bdi>
            </button>
          </li>
        ))}
      </ol>
    </nav>
  );
}
