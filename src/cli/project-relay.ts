/** The command `mailstead project relay`. */

import { putRelay } from "../modules/delivery/project-relays.ts";
import { resolveProject } from "../modules/projects.ts";
import { findProjectRelay } from "../outbox/transports/stored-relays.ts";
import { parseRelayUrl, type Relay } from "../protocols/smtp/relay-url.ts";
import { recordCommand } from "./audit.ts";
import { type Command, type Input, UsageError } from "./command.ts";
import { print, STORE_SETTINGS, withStore } from "./store.ts";

/** A URL with a long password. */
const LONGEST_FILE = 10_000;

export const projectRelay: Command = {
  name: "project relay",
  summary: "Show, set or remove the relay of a project",
  details:
    "Mail of the project leaves by its relay instead of as that of the installation. The URL is that of\n" +
    "--relay-url, in a file because it contains a password. A running server uses it within seconds.",
  positionals: [
    {
      name: "ID|NAME",
      isOptional: true,
      help: "Project; may be omitted if there is only one",
    },
  ],
  flags: [
    { name: "url-file", placeholder: "FILE", help: "Set the relay of the URL in this file" },
    { name: "remove", help: "Remove the relay" },
  ],
  settings: STORE_SETTINGS,
  run: async (input) => {
    const change = await readChange(input);
    return withStore(input, async (store) => {
      const naming = "mailstead project relay ID|NAME";
      const { seq, id, name } = resolveProject(store, input.positionals[0] ?? null, naming);
      if (change !== undefined) {
        await store.writer.write(() => {
          putRelay(store, seq, change);
          recordCommand(store, "project relay", {
            projectSeq: seq,
            objectId: id,
            fields: ["relay"],
          });
        });
      }
      const relay = findProjectRelay(store, seq);
      return print(
        input,
        { project: { id, name }, relay: relay === "unreadable" ? { error: relay } : shown(relay) },
        `Project ${name}: ${textOf(relay)}.`,
      );
    });
  },
};

/** Undefined if nothing is changed, and null if the relay is removed. Throws UsageError. */
async function readChange({ flags }: Input): Promise<Relay | null | undefined> {
  const file = flags["url-file"];
  const isRemoved = flags["remove"] !== undefined;
  if (file === undefined) return isRemoved ? null : undefined;
  if (isRemoved) {
    throw new UsageError("--url-file and --remove contradict each other: give only one of them");
  }
  const parsed = parseRelayUrl((await readText(file)).trim());
  if (!parsed.ok) throw new UsageError(`--url-file: the URL ${parsed.message}`);
  return parsed.relay;
}

async function readText(file: string): Promise<string> {
  try {
    return await Bun.file(file).slice(0, LONGEST_FILE).text();
  } catch (error) {
    if (!(error instanceof Error && "code" in error)) throw error;
    throw new UsageError(`--url-file: ${file} cannot be read: ${error.message}`);
  }
}

function shown(relay: Relay | null) {
  if (relay === null) return null;
  const { host, port, tls, user = null } = relay;
  return { host, port, tls, user };
}

function textOf(relay: Relay | "unreadable" | null): string {
  if (relay === null) return "mail leaves as that of the installation";
  if (relay === "unreadable") return "the password of its relay cannot be read; set it again";
  return `mail leaves by ${relay.host}:${relay.port}${relay.user === undefined ? "" : ` as ${relay.user}`}`;
}
