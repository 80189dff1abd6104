import { useRouter } from "@tanstack/react-router";
import type { MouseEvent, ReactNode } from "react";

const BASE = "/app";

/**
 * A link to a page below /app by its path, such as `/p/1/segments/2?tab=members`. `Link` of the
 * router is better where the route is known: it checks the path and loads the page earlier.
 */
export function PathLink(props: { path: string; className?: string; children: ReactNode }) {
  const { path, className, children } = props;
  const router = useRouter();
  function open(event: MouseEvent): void {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    router.history.push(BASE + path);
  }
  return (
    <a href={BASE + path} className={className} onClick={open}>
      {children}
    </a>
  );
}
