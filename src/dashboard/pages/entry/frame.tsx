/** The frame of the pages before sign-in: one card in the middle. */

import { Outlet } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useTitle } from "../../ui/page.tsx";

export function EntryFrame() {
  return (
    <main className="entry">
      <Outlet />
    </main>
  );
}

export function EntryCard(props: { title: string; text?: ReactNode; children?: ReactNode }) {
  const { title, text, children } = props;
  useTitle(title);
  return (
    <div>
      <div className="entry-brand">
        <BrandMark />
        Mailstead
      </div>
      <div className="entry-card">
        <h1>{title}</h1>
        {text !== undefined && <p className="muted entry-text">{text}</p>}
        {children}
      </div>
    </div>
  );
}

function BrandMark() {
  return (
    <svg width="26" height="26" viewBox="0 0 32 32" aria-hidden>
      <rect width="32" height="32" rx="8" fill="#4338ca" />
      <path
        d="M7 11.5 16 18l9-6.5M9 9h14a2 2 0 0 1 2 2v10a2 2 0 0 1-2 2H9a2 2 0 0 1-2-2V11a2 2 0 0 1 2-2Z"
        fill="none"
        stroke="#fff"
        strokeWidth="2"
        strokeLinecap="round"
        strokeLinejoin="round"
      />
    </svg>
  );
}

/** The token of a link: it is in the fragment, so that no server and no log sees it. */
export const tokenOfLink = (): string => window.location.hash.slice(1);
