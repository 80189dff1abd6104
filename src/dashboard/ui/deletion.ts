/**
 * Deletes the object that a page shows. From the request on, its queries are not read, because their
 * answer would be 404: neither by a live message about the deletion nor while the page is left.
 */

import { type Query, type QueryKey, useQueryClient } from "@tanstack/react-query";
import { api } from "../api.ts";

type Deletion = {
  /** The path of the object. */
  path: string;
  /** The first parts of the keys of its queries. */
  queryKey: QueryKey;
  /** The first parts of the keys of the lists that it was in. */
  listKey: QueryKey;
  /** Leaves the page of the object. */
  leave: () => Promise<void>;
};

/** The keys of the objects that are being deleted. */
const deleted = new Set<QueryKey>();

/** False for a query of an object that is being deleted; the default of `enabled`. */
export function isReadable({ queryKey }: Pick<Query, "queryKey">): boolean {
  return ![...deleted].some((key) => key.every((part, i) => part === queryKey[i]));
}

/** Returns the function that deletes the object. It rejects, and the page stays, if that fails. */
export function useDeletion({ path, queryKey, listKey, leave }: Deletion): () => Promise<void> {
  const client = useQueryClient();
  return async () => {
    deleted.add(queryKey);
    try {
      await client.cancelQueries({ queryKey });
      await api.delete(path);
      await leave();
      client.removeQueries({ queryKey });
    } finally {
      deleted.delete(queryKey);
      // After a failure the object is still shown, so what was cancelled is read again.
      for (const key of [queryKey, listKey]) void client.invalidateQueries({ queryKey: key });
    }
  };
}
