import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";

/** Opens the recipients who did something, or who clicked a link. */
export function RecipientsLink(props: { show?: string; link?: string; children: ReactNode }) {
  const { show, link, children } = props;
  return (
    <Link
      to="."
      search={{ tab: "recipients", ...(show && { show }), ...(link && { link }) }}
      activeProps={{}}
    >
      {children}
    </Link>
  );
}
