/** Tests which changes of the write-ahead log are signs of another process. */

import { expect, test } from "bun:test";
import { createCopyProgress } from "../../../src/db/durability/copy-progress.ts";
import type { LogFile } from "../../../src/db/durability/wal-file.ts";

/** A log whose header and number of frames the test sets. */
function followedLog() {
  const state = { generation: "a", frames: 0, signs: 0 };
  const log: LogFile = {
    path: "",
    sizeBytes: () => 0,
    sync: () => Promise.resolve(),
    generation: () => state.generation,
    hasFrame: (number, of = state.generation) => of === state.generation && number <= state.frames,
    lastFrame: () => state.frames,
    header: () => state.generation,
    pageNumbers: () => new Set(),
    hasFrameBefore: () => true,
    isOpen: () => true,
    close: () => {},
  };
  const progress = createCopyProgress(log, { note: () => void state.signs++ });
  progress.areLeft(1);
  return { state, progress };
}

test("a log that another process truncated is one sign, however often it is examined", () => {
  const { state, progress } = followedLog();
  Object.assign(state, { generation: "", frames: 0 });
  for (let n = 0; n < 5; n++) progress.areLeft(1);
  expect(state.signs).toBe(1);
});

test("each further truncation is a sign", () => {
  const { state, progress } = followedLog();
  for (const generation of ["", "b", "", "c", ""]) {
    state.generation = generation;
    progress.areLeft(1);
  }
  expect(state.signs).toBe(3);
});

test("a restart of a log that was copied is no sign; of one with frames to copy it is", () => {
  const { state, progress } = followedLog();
  state.frames = 3;
  progress.record({ busy: 0, log: 3, checkpointed: 3 }, 3);
  Object.assign(state, { generation: "b", frames: 1 });
  progress.areLeft(1);
  expect(state.signs).toBe(0);
  Object.assign(state, { generation: "c", frames: 1 });
  progress.areLeft(1);
  expect(state.signs).toBe(1);
});
