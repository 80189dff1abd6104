/**
 * The browser keeps the fields of a form until they are saved or discarded. The server cannot store a
 * condition that is not complete, and its user should not have to enter it again.
 */

import { useEffect, useState } from "react";
import { newIdempotencyKey } from "../../../api.ts";
import { useAppState } from "../../../state.ts";
import { createDrafts, type KeptDraft } from "../../../ui/editors/drafts.ts";
import { areSameFields, type FieldValues } from "../../../ui/editors/merge.ts";

/** `key` names the object in the storage of the browser. */
export function useKeptForm(key: string) {
  const { user } = useAppState();
  const [drafts] = useState(() =>
    // People who share a browser do not get each other's changes.
    createDrafts(localStorage, `${user?.id ?? ""}:${key}`, newIdempotencyKey()),
  );
  const [kept] = useState<KeptDraft | null>(() => drafts.take(Date.now()));
  return { kept, drafts };
}

/** Keeps the fields while they differ from those of the server. Returns false if it cannot. */
export function useKeeping(
  drafts: ReturnType<typeof createDrafts>,
  fields: { before: FieldValues; now: FieldValues; isEnded: boolean },
): boolean {
  const { before, now, isEnded } = fields;
  const [isKept, setIsKept] = useState(true);
  const isChanged = !isEnded && !areSameFields(before, now);
  const text = JSON.stringify(now);
  useEffect(() => {
    if (!isChanged) drafts.clear();
    else setIsKept(drafts.write({ revision: 0, atMs: Date.now(), before, now }));
    // `now` is a new object each time.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [drafts, isChanged, text]);
  return isKept;
}
