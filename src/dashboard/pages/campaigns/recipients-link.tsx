import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";

/** Opens the recipients who did something, who clicked a link, or who have a variant of an A/B test. */
export function RecipientsLink(props: {
  show?: string;
  link?: string;
  variant?: string;
  children: ReactNode;
}) {
  const { show, link, variant, children } = props;
  return (
    <Link
      to="."
      search={{
        tab: "recipients",
        ...(show && { show }),
        ...(link && { link }),
        ...(variant && { variant }),
      }}
      activeProps={{}}
    >
      {children}
    </Link>
  );
}
