import { EmptyState } from "@mantine/core";
import type { LucideIcon } from "lucide-react";
import type { ReactNode } from "react";

/**
 * The content of a page without data: one sentence, one primary action and, where code
 * helps, an example. A list without matches uses `NoMatches` instead.
 */
export function Empty(props: {
  icon: LucideIcon;
  title: string;
  /** One sentence. */
  text: ReactNode;
  action?: ReactNode;
  /** Such as a Code with the first request. */
  children?: ReactNode;
}) {
  const { icon: Icon, title, text, action, children } = props;
  return (
    <div className="empty">
      <EmptyState
        size="sm"
        withIndicatorBackground
        icon={<Icon size={20} aria-hidden />}
        title={title}
        description={text}
      >
        {action !== undefined && <EmptyState.Actions>{action}</EmptyState.Actions>}
      </EmptyState>
      {children !== undefined && <div className="empty-example">{children}</div>}
    </div>
  );
}
