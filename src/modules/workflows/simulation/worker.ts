/** A thread that simulates workflows and replays recorded events (threads.ts). */

import { defineFormats } from "../../../http/formats.ts";
import { answerTasks } from "../../../lib/answer-tasks.ts";
import { replay } from "./replay.ts";
import { replaySegment } from "./segment-replay.ts";
import { simulate } from "./simulate.ts";
import type { SandboxResult, SandboxTask } from "./threads.ts";

// The graph is checked once more in the sandbox.
defineFormats();
answerTasks(async (task: SandboxTask): Promise<SandboxResult> => {
  switch (task.kind) {
    case "replay":
      return { kind: "replay", counts: await replay(task) };
    case "segment":
      return { kind: "segment", counts: await replaySegment(task) };
    case "simulation":
      return { kind: "simulation", ...(await simulate(task)) };
  }
});
