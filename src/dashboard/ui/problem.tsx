import { Button } from "@mantine/core";
import { CircleAlert } from "lucide-react";
import {
  errorHint,
  errorText,
  failureId,
  isMissing,
  isPassing,
  isSessionEnd,
} from "./error-text.ts";

/**
 * An error in place of a part of a page: the problem, how a person can fix it, the request id of a
 * failure of the server, and Retry where that may help.
 */
export function Problem({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  if (isSessionEnd(error)) return null;
  const text = errorText(error);
  const hint = errorHint(error);
  if (isMissing(error) && onRetry !== undefined) {
    return (
      <p className="muted" role="alert">
        {text} {hint}
      </p>
    );
  }
  const id = failureId(error);
  return (
    <div className="problem" role="alert">
      <CircleAlert size={18} aria-hidden />
      <div>
        <strong>{text}</strong>
        {hint !== "" && <p>{hint}</p>}
        {id !== "" && (
          <p className="small">
            Request id <code>{id}</code>
          </p>
        )}
      </div>
      {onRetry !== undefined && isPassing(error) && (
        <Button size="xs" variant="default" onClick={onRetry}>
          Try again
        </Button>
      )}
    </div>
  );
}
