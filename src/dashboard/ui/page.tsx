import { Link, type LinkProps } from "@tanstack/react-router";
import { ChevronLeft } from "lucide-react";
import { type ReactNode, useEffect, useLayoutEffect, useRef } from "react";
import { focusContentIfLost } from "../keyboard-focus.ts";
import { useProject } from "../state.ts";

/**
 * The frame of a page: its heading, which is also the title of the browser's tab, buttons at its
 * right, and tabs below. With `isFixed` the page does not scroll; a DataTable in it does.
 */
export function Page(props: {
  title: string;
  /** Shown in place of the title, such as a field with the name. The heading is then read aloud only. */
  titleField?: ReactNode;
  /** Beside the title, such as a Status. */
  badge?: ReactNode;
  /** One sentence below the title. */
  description?: ReactNode;
  actions?: ReactNode;
  tabs?: ReactNode;
  /** Link to the list that this page belongs to: an element made by `<BackLink>`. */
  back?: ReactNode;
  isFixed?: boolean;
  children: ReactNode;
}) {
  const { title, titleField, badge, description, actions, tabs, back, children } = props;
  const { isFixed = false } = props;
  useTitle(title);
  const content = useRef<HTMLDivElement>(null);
  // A page may be shown until the parts of another one are loaded, which then gets its focus.
  useLayoutEffect(() => {
    const { current } = content;
    return () => {
      if (document.activeElement === current)
        document.getElementById("main")?.focus({ preventScroll: true });
    };
  }, []);
  useEffect(() => {
    if (document.activeElement?.id === "main") focusContentIfLost();
  }, []);
  return (
    <div ref={content} className="page" data-fixed={isFixed || undefined} tabIndex={-1}>
      <header className="page-head">
        {back}
        <div className="page-line">
          <div className="page-title">
            <h1 className={titleField === undefined ? undefined : "page-read-title"}>{title}</h1>
            {titleField}
            {badge}
          </div>
          {actions !== undefined && <div className="page-actions">{actions}</div>}
        </div>
        {description !== undefined && <p className="muted page-description">{description}</p>}
        {tabs}
      </header>
      <div className="page-body">{children}</div>
    </div>
  );
}

/** Sets the title of the browser's tab: `Emails · Acme · Mailstead`. */
export function useTitle(title: string): void {
  const project = useProject();
  const text = [title, project?.name, "Mailstead"].filter((part) => part !== undefined).join(" · ");
  useEffect(() => {
    document.title = text;
  }, [text]);
}

/** `<Page back={<Link to="…" className="page-back"><BackLabel>Emails</BackLabel></Link>}>`. */
export function BackLabel({ children }: { children: ReactNode }) {
  return (
    <>
      <ChevronLeft size={14} aria-hidden /> {children}
    </>
  );
}

/** Tabs that are links, so that each has an address: children are `<TabLink>`. */
export function PageTabs({ label, children }: { label: string; children: ReactNode }) {
  return (
    <nav className="page-tabs" aria-label={label}>
      {children}
    </nav>
  );
}

/** Tabs of which each is a page of the project. A path has `$project` in it. */
export function PathTabs(props: {
  label: string;
  tabs: readonly { to: Extract<LinkProps["to"], `/p/$project/${string}`>; label: string }[];
}) {
  const project = useProject();
  if (project === null) return null;
  return (
    <PageTabs label={props.label}>
      {props.tabs.map(({ to, label }) => (
        <Link
          key={to}
          to={to}
          params={{ project: project.id }}
          className="page-tab"
          // The path of one tab may begin with that of another.
          activeOptions={{ exact: true, includeSearch: false }}
        >
          {label}
        </Link>
      ))}
    </PageTabs>
  );
}

/** One tab of PageTabs that changes the search parameter `tab` of the page. */
export function TabLink(props: { tab: string; current: string; children: ReactNode }) {
  const { tab, current, children } = props;
  const link = useRef<HTMLAnchorElement>(null);
  const isCurrent = tab === current;
  useEffect(() => {
    if (isCurrent) centreInRow(link.current);
  }, [isCurrent]);
  return (
    <Link
      ref={link}
      to="."
      search={(before: object) => ({ ...before, tab })}
      className="page-tab"
      aria-current={isCurrent ? "page" : undefined}
      activeProps={{}}
    >
      {children}
    </Link>
  );
}

/** Scrolls the row of tabs alone: on a phone it is longer than the screen. */
function centreInRow(tab: HTMLElement | null): void {
  const row = tab?.parentElement;
  if (tab === null || !row) return;
  const start = tab.offsetLeft - row.offsetLeft;
  row.scrollLeft = start - (row.clientWidth - tab.offsetWidth) / 2;
}
