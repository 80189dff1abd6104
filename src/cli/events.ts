/** The command `mailstead events export`. */

import { systemClock } from "../lib/clock.ts";
import { exportEvents } from "../modules/event-export/export.ts";
import { eventsTargetOf } from "../modules/event-export/event-export.ts";
import { S3_SETTINGS } from "./backup-places.ts";
import { type Command, UsageError } from "./command.ts";
import { print, readServerSettings, STORE_SETTINGS, withStore } from "./store.ts";

const SETTINGS = [...STORE_SETTINGS, "eventsTo", ...S3_SETTINGS] as const;

export const eventsExport: Command = {
  name: "events export",
  summary:
    "Write the events since the last export to a folder or bucket (serve does it every hour)",
  details:
    "Each file has one JSON object on each line and is compressed with zstd. Its path begins with\n" +
    "date=YYYY-MM-DD/hour=HH, the time of its first event.",
  positionals: [],
  flags: [],
  settings: SETTINGS,
  run: (input) =>
    withStore(input, async (store) => {
      const target = eventsTargetOf(
        await readServerSettings(input, { names: SETTINGS }),
        systemClock,
      );
      if (target === null)
        throw new UsageError("--events-to is needed: a folder or s3://BUCKET/PREFIX");
      const { folder, db, writer } = store;
      const exported = await exportEvents({ db, writer, secret: folder.secret }, target);
      const text = `Exported ${exported.events} events in ${exported.files} files to ${target.name}`;
      return print(input, exported, text);
    }),
};
