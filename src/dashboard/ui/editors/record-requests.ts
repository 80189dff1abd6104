/**
 * The requests of an editor for one record of the interface: one saves the changed fields with the
 * revision that they were made to, the other reads what others saved. Both put the record into the
 * cache of queries, where the page finds it.
 */

import type { QueryClient, QueryKey } from "@tanstack/react-query";
import { api } from "../../api.ts";
import type { SaveOptions, Stored } from "./autosave.ts";

export function recordRequests<Item extends { revision: number }, Value>(options: {
  client: QueryClient;
  project: string;
  /** The path of the record. */
  path: string;
  /** The key of the query that reads the record. */
  queryKey: QueryKey;
  /** The part of the record that is edited. */
  read: (record: Item) => Value;
  /** The body of the request that saves the changed fields. */
  patch: (value: Value, changed: readonly string[]) => object;
  /** Renews the other queries that show the record, which is now `saved`. */
  onSaved: (saved: Item) => void;
}) {
  const { client, project, path, queryKey, read, patch, onSaved } = options;
  return {
    async save(
      value: Value,
      revision: number,
      { changed, isLeaving }: SaveOptions,
    ): Promise<number> {
      const saved = await api.patch<Item>(path, patch(value, changed), {
        headers: { "If-Match": `"${revision}"` },
        project,
        keepalive: isLeaving,
      });
      client.setQueryData(queryKey, saved);
      onSaved(saved);
      return saved.revision;
    },
    async load(): Promise<Stored<Value>> {
      const record = await api.get<Item>(path, { project });
      client.setQueryData(queryKey, record);
      return { value: read(record), revision: record.revision };
    },
  };
}

/** Renews the queries of a list and of what was made of a record, but not the record, which is new. */
export function refreshOthers(client: QueryClient, recordKey: QueryKey): void {
  void client.invalidateQueries({
    queryKey: recordKey.slice(0, -1),
    predicate: ({ queryKey }) =>
      queryKey[recordKey.length - 1] !== recordKey.at(-1) || queryKey.length > recordKey.length,
  });
}
