/**
 * Changes that share a savepoint of the writer. Many small changes of the same kind, such as the
 * outcomes of mails, cost less together: one savepoint and one answer for all of them. If one of
 * them throws, all are undone, and each is repeated in a savepoint of its own, so that only the
 * faulty one fails. A change may therefore run twice, but its writes are stored at most once.
 *
 * While many changes are requested, they wait a few milliseconds for the next commit of others, so
 * that there are fewer commits, each of which writes a page once.
 */

import { callForEach, type Callbacks } from "../lib/callbacks.ts";
import { isStorageRefusal } from "./refusal.ts";
import type { Change, Sync, Writer } from "./writer.ts";

/** Most changes that share a savepoint. They run without a pause, for about 5 ms. */
const MAX_SHARED = 64;
/** The longest that changes wait for the commit of others, if so many shared the last savepoint. */
const DEFER_MS = 5;
const MANY = 4;
/** With so many, they no longer wait: a commit with more would hold the event loop longer. */
const ENOUGH = 24;

type SharingWriter = Pick<Writer, "write" | "hasten">;

type Entry = {
  run: () => void;
  /** Called when the result of `run` is on disk. */
  resolve: () => void;
  reject: (error: unknown) => void;
};

/** Changes that share savepoints. `add` does the same as `write`, without a promise. */
type SharedChanges = Pick<Writer, "write"> & {
  add<T>(change: Change<Sync<T>>, answer: Callbacks<T>): void;
};

export function createSharedChanges(writer: SharingWriter): SharedChanges {
  /** Changes that run with the next savepoint; null if none is requested. */
  let open: Entry[] | null = null;
  /** Number of changes that shared the last savepoint. */
  let lastShared = 0;

  function close(group: Entry[]): void {
    if (open === group) open = null;
  }

  async function writeGroup(group: Entry[]): Promise<void> {
    const deferMs = lastShared >= MANY ? DEFER_MS : 0;
    const runAll = () => {
      close(group);
      lastShared = group.length;
      for (const { run } of group) run();
    };
    try {
      await writer.write(runAll, { deferMs });
    } catch (error) {
      close(group);
      return repeatOrReject(group, error);
    }
    callForEach(group, ({ resolve }) => resolve());
  }

  function repeatOrReject(group: readonly Entry[], error: unknown): void {
    const isShared = group.length > 1 && !isStorageRefusal(error);
    callForEach(group, (entry) => {
      if (isShared) writer.write(entry.run).then(entry.resolve, entry.reject);
      else entry.reject(error);
    });
  }

  function join(entry: Entry): void {
    if (open !== null && open.length < MAX_SHARED) {
      open.push(entry);
      if (open.length === ENOUGH) writer.hasten();
      return;
    }
    open = [entry];
    void writeGroup(open);
  }

  function add<T>(change: Change<Sync<T>>, answer: Callbacks<T>): void {
    let result: Sync<T>;
    join({
      run: () => void (result = change()),
      resolve: () => answer.resolve(result),
      reject: answer.reject,
    });
  }

  return {
    add,
    write: (change) => new Promise((resolve, reject) => add(change, { resolve, reject })),
  };
}
