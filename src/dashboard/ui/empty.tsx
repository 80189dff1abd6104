import { EmptyState } from "@mantine/core";
import type { LucideIcon } from "lucide-react";
import type { ReactNode } from "react";

/**
 * The content of a page without data: one sentence, one primary action and, where code helps, an
 * example below it. The head of the page has no such action meanwhile. A list without matches uses
 * `NoMatches` instead.
 */
export function Empty(props: {
  icon: LucideIcon;
  title: string;
  /** One sentence. */
  text: ReactNode;
  /** Buttons; nothing or false if the user may not do it. */
  action?: ReactNode;
  /** The line above the example; by default the way from code beside the action. */
  exampleTitle?: string;
  /** Such as a Code with the first request. */
  children?: ReactNode;
}) {
  const { icon: Icon, title, text, action, exampleTitle, children } = props;
  const hasAction = action !== undefined && action !== null && action !== false;
  return (
    <div className="empty">
      <EmptyState
        size="sm"
        withIndicatorBackground
        icon={<Icon size={20} aria-hidden />}
        title={title}
        description={text}
      >
        {hasAction && <EmptyState.Actions>{action}</EmptyState.Actions>}
      </EmptyState>
      {children !== undefined && (
        <div className="empty-example">
          <p className="muted small">
            {exampleTitle ?? (hasAction ? "Or from your code:" : "From your code:")}
          </p>
          {children}
        </div>
      )}
    </div>
  );
}
