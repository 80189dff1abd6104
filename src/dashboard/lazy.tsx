/** Parts of the frame that are loaded when they are first used, to keep the first script small. */

import { type ComponentType, lazy, type ReactNode, Suspense, useRef } from "react";

/** `load` imports a module and returns its component. */
export function lazyPart<P extends object>(load: () => Promise<ComponentType<P>>) {
  const Part = lazy(async () => ({ default: await load() }));
  return function LazyPart(props: P) {
    return (
      <Suspense fallback={null}>
        <Part {...props} />
      </Suspense>
    );
  };
}

/** Shows its children from the first time on that `isOn` is true, so that they can close slowly. */
export function Once({ isOn, children }: { isOn: boolean; children: ReactNode }) {
  const wasOn = useRef(false);
  if (isOn) wasOn.current = true;
  return wasOn.current ? children : null;
}
