/** Uploaded files, stored in the data folder until their import has ended. */

import { mkdtempSync } from "node:fs";
import { type FileHandle, link, mkdir, open, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freeBytes } from "../../../db/folder.ts";

export type ImportFiles = ReturnType<typeof createImportFiles>;

/** A file that is being received. */
export type Receiving = {
  write(bytes: Uint8Array): Promise<void>;
  /** Resolves when the file is synced to disk, so that it survives a power failure. */
  finish(): Promise<void>;
  /** Closes and removes the file. */
  abandon(): Promise<void>;
};

const OWNER_ONLY_FOLDER = 0o700;
const OWNER_ONLY_FILE = 0o600;
const READ_BYTES = 64 * 1024;
/** Free disk space below which no upload is accepted, so that the database can still grow. */
const MIN_FREE_BYTES = 512 * 1024 * 1024;
const EXTENSION = ".csv";
const TRIAL_EXTENSION = ".trial";

/** `dataFolder` is null if the database is in memory; a temporary folder is used then. */
export function createImportFiles(dataFolder: string | null) {
  let temporary: string | null = null;
  /** Ids of files that this process received, whose jobs may not be stored yet. */
  const received = new Set<string>();

  function folder(): string {
    if (dataFolder !== null) return join(dataFolder, "imports");
    temporary ??= mkdtempSync(join(tmpdir(), "mailstead-imports-"));
    return temporary;
  }

  const pathOf = (id: string) => join(folder(), id + EXTENSION);

  async function remove(id: string): Promise<void> {
    await rm(pathOf(id), { force: true });
    received.delete(id);
  }

  async function syncFolder(): Promise<void> {
    const handle = await open(folder(), "r");
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  }

  return {
    /** True if the disk has enough free space for another file and for the database. */
    hasFreeSpace: (): boolean =>
      dataFolder === null || (freeBytes(dataFolder) ?? 0) >= MIN_FREE_BYTES,

    async create(id: string): Promise<Receiving> {
      await mkdir(folder(), { recursive: true, mode: OWNER_ONLY_FOLDER });
      received.add(id);
      const file = await open(pathOf(id), "wx", OWNER_ONLY_FILE);
      return {
        write: (bytes) => writeAll(file, bytes),
        async finish() {
          await file.sync();
          await file.close();
          await syncFolder();
        },
        async abandon() {
          await file.close().catch(() => undefined); // The file may be closed already.
          await remove(id);
        },
      };
    },

    /** The content of a file in chunks; null if the file does not exist. */
    async read(id: string): Promise<AsyncGenerator<Uint8Array> | null> {
      try {
        return readChunks(await open(pathOf(id), "r"));
      } catch (error) {
        if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
        throw error;
      }
    },

    remove,

    /** Gives a stored file a second id. Returns false if it does not exist. */
    async copy(id: string, newOne: string): Promise<boolean> {
      received.add(newOne);
      try {
        await link(pathOf(id), pathOf(newOne));
        await syncFolder();
        return true;
      } catch (error) {
        received.delete(newOne);
        if (error instanceof Error && "code" in error && error.code === "ENOENT") return false;
        throw error;
      }
    },

    /** The path of the file in which a dry run keeps its contacts; null if all is in memory. */
    trialPath: (id: string): string | null =>
      dataFolder === null ? null : join(folder(), id + TRIAL_EXTENSION),

    /** Removes files that no job needs: those of aborted uploads and of ended jobs. */
    async removeAllExcept(neededIds: readonly string[]): Promise<void> {
      if (dataFolder === null) return;
      const needed = new Set([...neededIds, ...received].map((id) => id + EXTENSION));
      // The folder does not exist before the first import.
      const names = await readdir(folder()).catch(() => []);
      for (const name of names) {
        const isUnneeded = name.endsWith(EXTENSION) && !needed.has(name);
        // No dry run is under way when this is called.
        if (isUnneeded || name.endsWith(TRIAL_EXTENSION)) await rm(join(folder(), name));
      }
    },

    async close(): Promise<void> {
      if (temporary !== null) await rm(temporary, { recursive: true, force: true });
      temporary = null;
    },
  };
}

async function writeAll(file: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let done = 0; done < bytes.byteLength;) {
    const { bytesWritten } = await file.write(bytes, done);
    done += bytesWritten;
  }
}

async function* readChunks(file: FileHandle): AsyncGenerator<Uint8Array> {
  const buffer = Buffer.alloc(READ_BYTES);
  try {
    for (;;) {
      const { bytesRead } = await file.read(buffer, 0, READ_BYTES);
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await file.close();
  }
}
