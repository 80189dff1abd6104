import { Button } from "@mantine/core";
import { CircleAlert } from "lucide-react";
import { ApiError } from "../api.ts";

/** An error in place of a part of a page: the problem, how to fix it, the request id, and Retry. */
export function Problem({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  const isApi = error instanceof ApiError;
  const message = error instanceof Error ? error.message : String(error);
  return (
    <div className="problem" role="alert">
      <CircleAlert size={18} aria-hidden />
      <div>
        <strong>{message}</strong>
        {isApi && error.suggestion !== "" && <p>{error.suggestion}</p>}
        {isApi && error.requestId !== "" && (
          <p className="small">
            Request id <code>{error.requestId}</code>
          </p>
        )}
      </div>
      {onRetry !== undefined && (
        <Button size="xs" variant="default" onClick={onRetry}>
          Try again
        </Button>
      )}
    </div>
  );
}
