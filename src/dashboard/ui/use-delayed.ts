import { useEffect, useState } from "react";

const DELAY_MS = 150;

/** Becomes true 150 ms after `isOn`, so that fast answers show no skeleton. */
export function useDelayed(isOn: boolean): boolean {
  const [isLate, setIsLate] = useState(false);
  useEffect(() => {
    if (!isOn) {
      setIsLate(false);
      return undefined;
    }
    const timer = setTimeout(() => setIsLate(true), DELAY_MS);
    return () => clearTimeout(timer);
  }, [isOn]);
  return isOn && isLate;
}
