/**
 * A backup in a bucket that is killed while it is uploaded leaves nothing, and the next one has
 * every answered mail. The long form, also for folders and with moto, is scripts/backup.ts.
 */

import { killBackups } from "../../scripts/backup/kills.ts";
import { bucketPlace } from "../../scripts/backup/places.ts";
import { startS3Server } from "../support/s3-server.ts";
import { BINARY, prove } from "./prove.ts";

/** The archive has two parts. */
const MEGABYTES = 18;

prove([
  {
    name: "a backup in a bucket survives kill -9, and its restored server sends nothing",
    async run() {
      const server = await startS3Server();
      const place = bucketPlace(server.service, "shop");
      const options = {
        kills: 1,
        megabytes: MEGABYTES,
        connections: 1,
        flips: 0,
        quietMs: 1_000,
        seed: 8,
      };
      const phases = ["upload"];
      const outcome = await killBackups({ ...place, phases }, { ...options, binary: BINARY });
      await server.stop();
      return outcome.aims;
    },
  },
]);
