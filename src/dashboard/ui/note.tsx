import type { ReactNode } from "react";

/** In place of something that cannot be shown: an icon, what it is, and why. */
export function Note(props: { icon: ReactNode; title: string; children: ReactNode }) {
  const { icon, title, children } = props;
  return (
    <div className="note">
      {icon}
      <h3>{title}</h3>
      <p className="muted">{children}</p>
    </div>
  );
}
