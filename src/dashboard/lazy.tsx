/**
 * Pages, and parts of the frame, that are loaded when they are first used, to keep the first script
 * small. A part that cannot be loaded leaves the rest of the page as it is.
 */

import { CatchBoundary, lazyRouteComponent } from "@tanstack/react-router";
import { type ReactNode, Suspense, useRef, useState } from "react";
import { api } from "./api.ts";
import { Problem } from "./ui/problem.tsx";
import { stylesLoaded } from "./ui/style-sheet.ts";

/**
 * Runs an import. If it fails because the server does not answer, the error is that of a request:
 * for the error of the browser the router would load the document again, which the server could not
 * answer either. If the server does answer, the chunk belongs to an older version of it.
 */
async function imported<T>(load: () => Promise<T>): Promise<T> {
  try {
    const module = await load();
    await stylesLoaded();
    return module;
  } catch (error) {
    await api.get("/app/api/state", { project: null });
    throw error;
  }
}

/** The component of a route: `name` is the export of the module that `load` imports. */
export const lazyPage = <T extends Record<string, unknown>, K extends keyof T>(
  load: () => Promise<T>,
  name: K,
) => lazyRouteComponent(() => imported(load), name);

/**
 * `load` imports a module and returns its component. `fallback` is shown meanwhile. A part without
 * one has no place in the page, so that its error is shown in a corner.
 */
export function lazyPart<P extends object>(
  load: () => Promise<(props: P) => ReactNode>,
  fallback: ReactNode = null,
) {
  const Part = lazyRouteComponent(async () => ({ Part: await imported(load) }), "Part");
  return function LazyPart(props: P) {
    const [attempts, setAttempts] = useState(0);
    async function retry(): Promise<void> {
      await Part.preload?.();
      setAttempts(attempts + 1);
    }
    return (
      <CatchBoundary
        getResetKey={() => attempts}
        errorComponent={({ error }) => (
          <div className={fallback === null ? "corner-problem" : undefined}>
            <Problem error={error} onRetry={() => void retry()} />
          </div>
        )}
      >
        <Suspense fallback={fallback}>
          <Part {...props} />
        </Suspense>
      </CatchBoundary>
    );
  };
}

/** Shows its children from the first time on that `isOn` is true, so that they can close slowly. */
export function Once({ isOn, children }: { isOn: boolean; children: ReactNode }) {
  const wasOn = useRef(false);
  if (isOn) wasOn.current = true;
  return wasOn.current ? children : null;
}
