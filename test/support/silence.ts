/** Lets a timeout of a session pass while a scripted server is silent. */

import type { ManualClock } from "./clock.ts";
import { settleEventLoop, waitUntil } from "./eventually.ts";
import type { ScriptServer } from "./smtp-script.ts";

/** Advances the clock by `ms` as soon as `count` connections of the server hang. */
export async function advanceWhenSilent(
  clock: ManualClock,
  server: Pick<ScriptServer, "hanging">,
  { ms, count = 1 }: { ms: number; count?: number },
): Promise<void> {
  await waitUntil(() => server.hanging >= count);
  // The client waits for the server once it has read and written everything.
  await settleEventLoop();
  clock.advance(ms);
}
