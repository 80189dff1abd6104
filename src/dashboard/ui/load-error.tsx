import { type ErrorComponentProps, useRouter } from "@tanstack/react-router";
import { Problem } from "./problem.tsx";

/**
 * In place of a page that failed. After an update of the server the chunks of the old page are gone,
 * so trying again loads the whole document. Otherwise the router loads the page again.
 */
export function LoadError({ error }: ErrorComponentProps) {
  const router = useRouter();
  function retry(): void {
    if (error instanceof TypeError && /import|module/i.test(error.message)) {
      window.location.reload();
    } else {
      void router.invalidate();
    }
  }
  return (
    <div className="page">
      <Problem error={error} onRetry={retry} />
    </div>
  );
}
