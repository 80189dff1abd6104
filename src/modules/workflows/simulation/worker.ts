/** A thread that simulates workflows and replays recorded events (threads.ts). */

import { defineFormats } from "../../../http/formats.ts";
import { answerTasks } from "../../../lib/answer-tasks.ts";
import { replay } from "./replay.ts";
import { simulate } from "./simulate.ts";
import type { SandboxResult, SandboxTask } from "./threads.ts";

// The graph is checked once more in the sandbox.
defineFormats();
answerTasks(async (task: SandboxTask): Promise<SandboxResult> =>
  task.kind === "replay"
    ? { kind: "replay", counts: await replay(task) }
    : { kind: "simulation", ...(await simulate(task)) },
);
