/** An installation with contacts and a recovery key, for proofs without a server. */

import { runCommand, type Commands } from "./program.ts";
import { removeFolder, temporaryFolder } from "../bench/children.ts";
import { prepareStore } from "../bench/store.ts";
import { addLargeContacts, CONTACTS_IN_MIB } from "./kills.ts";

export async function withBackupStore<T>(
  options: { binary: string | null; megabytes: number; folder?: string },
  work: (commands: Commands, data: string) => Promise<T>,
): Promise<T> {
  const { binary, megabytes, folder = temporaryFolder() } = options;
  try {
    await prepareStore(folder, 0);
    addLargeContacts(folder, megabytes * CONTACTS_IN_MIB);
    const commands = { binary, env: { MAILSTEAD_DATA: folder } };
    await runCommand(commands, ["backup", "init"]);
    return await work(commands, folder);
  } finally {
    if (options.folder === undefined) removeFolder(folder);
  }
}
