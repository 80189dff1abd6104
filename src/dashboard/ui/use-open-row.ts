/** The row of a list that is open in a drawer, and its neighbours. */

import { useEffect, useRef } from "react";

export function useOpenRow<T extends { id: string }>(id: string | undefined, rows: readonly T[]) {
  const index = rows.findIndex((row) => row.id === id);
  const found = rows[index];
  const last = useRef(found);
  useEffect(() => {
    if (found !== undefined) last.current = found;
  }, [found]);
  return {
    /** Undefined if no row of the list has this id. */
    found,
    /** The row that was open before, which the drawer shows while it closes. */
    last: last.current,
    next: index === -1 ? undefined : rows[index + 1]?.id,
    previous: rows[index - 1]?.id,
  };
}
