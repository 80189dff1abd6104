import type { ReactNode } from "react";

/** A part of a page with a heading. `id` is that of the heading, which names the part. */
export function PageSection(props: { id: string; title: string; children: ReactNode }) {
  const { id, title, children } = props;
  return (
    <section className="section" aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {children}
    </section>
  );
}
