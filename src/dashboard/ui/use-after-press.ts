import { useCallback, useEffect, useRef } from "react";

/**
 * Returns a function that runs another one after the press of a pointer has ended, and its click with
 * it. A message that appears when a field loses the focus would otherwise move the button that was
 * pressed away from the pointer, and the click would be lost.
 */
export function useAfterPress(): (run: () => void) => void {
  const isPressed = useRef(false);
  const waiting = useRef<(() => void)[]>([]);
  useEffect(() => {
    const onPress = () => void (isPressed.current = true);
    const onRelease = () => {
      isPressed.current = false;
      const runs = waiting.current.splice(0);
      // The click follows the release in the same task.
      window.setTimeout(() => runs.forEach((run) => run()));
    };
    window.addEventListener("pointerdown", onPress, true);
    window.addEventListener("pointerup", onRelease, true);
    window.addEventListener("pointercancel", onRelease, true);
    return () => {
      window.removeEventListener("pointerdown", onPress, true);
      window.removeEventListener("pointerup", onRelease, true);
      window.removeEventListener("pointercancel", onRelease, true);
    };
  }, []);
  return useCallback((run) => {
    // A tap moves the focus after the pointer was released, in the task of its click.
    if (isPressed.current) waiting.current.push(run);
    else window.setTimeout(run);
  }, []);
}
