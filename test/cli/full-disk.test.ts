/** The start of a server on a full disk. */

import { afterAll, afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, rmSync, statSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { openDatabase } from "../../src/db/open.ts";
import { main } from "../../src/cli/run.ts";
import { mailstead, testStreams } from "../support/command-line.ts";
import { waitUntil } from "../support/eventually.ts";
import { stringAt, valueAt } from "../support/json.ts";
import { fillDisk, mountSmallDisk, unmountDisk } from "../support/small-disk.ts";

const disk = mountSmallDisk();

describe.skipIf(disk === null)("a full disk (needs permission to mount a tmpfs)", () => {
  const mounted = disk ?? "";
  const filler = join(mounted, "filler");
  let count = 0;
  let data: string;
  const closers: (() => Promise<unknown>)[] = [];
  beforeEach(() => {
    data = join(mounted, `data${++count}`);
  });
  afterEach(async () => {
    for (const close of closers.splice(0)) await close();
    rmSync(filler, { force: true });
  });
  afterAll(() => unmountDisk(mounted));

  /** The write-ahead log and its index exist already. */
  async function openedElsewhere(): Promise<void> {
    await mailstead(["project", "create", "acme", "--data", data]);
    const other = openDatabase(join(data, "mailstead.db"));
    other.sqlite.run("UPDATE projects SET name = 'other'");
    closers.push(async () => other.sqlite.close());
  }

  test("a plain copy that does not fit is explained, and leaves nothing", async () => {
    await mailstead(["project", "create", "acme", "--data", data]);
    fillDisk(filler);
    const copy = join(data, "copy");
    truncateSync(filler, statSync(filler).size - 64 * 1024);
    const { code, stderr } = await mailstead(["backup", copy, "--data", data]);
    expect([code, stderr.split("\n")[0]]).toEqual([1, "mailstead: The disk is full."]);
    expect(readdirSync(copy)).toEqual([]);
  });

  /** Starts a server and waits until it says that it waits. */
  async function startOnFullDisk() {
    const streams = testStreams();
    const words = ["serve", "--data", data, "--port", "0", "--json", "--log-format", "json"];
    const ended = main(words, streams.io).finally(streams.end);
    const stop = () => {
      streams.stop();
      return ended;
    };
    closers.push(stop);
    await waitUntil(() => streams.written.stderr.includes("the disk is full"));
    const line = streams.written.stderr.split("\n").find((text) => text.includes("is full"));
    const livez = stringAt(JSON.parse(line ?? ""), "livez");
    const status = async (path: string) => {
      const answer = await fetch(new URL(path, livez));
      return [answer.status, valueAt(await answer.json(), "error.message") ?? null];
    };
    return { streams, status, stop };
  }

  const refused = [503, "The storage is full: the server starts as soon as there is space."];

  const states: [name: string, make: () => Promise<unknown>][] = [
    ["a new installation", async () => undefined],
    ["a new installation in a folder", async () => mkdirSync(data)],
    ["an installation", () => mailstead(["project", "create", "acme", "--data", data])],
    ["an installation that another process has open", openedElsewhere],
  ];
  test.each(states)("%s waits for space, says so, and starts by itself", async (_, make) => {
    await make();
    fillDisk(filler);
    const { streams, status, stop } = await startOnFullDisk();
    expect(await status("/livez")).toEqual([200, null]);
    expect(await status("/readyz")).toEqual(refused);
    expect(await status("/v1/send")).toEqual(refused);
    rmSync(filler);
    await streams.greeted;
    expect(await status("/readyz")).toEqual([200, null]);
    expect(await stop()).toBe(0);
    expect(streams.written.stderr).not.toContain('"level":"error"');
  });

  test("a server that waits for space ends when it is asked to", async () => {
    fillDisk(filler);
    const { stop } = await startOnFullDisk();
    expect(await stop()).toBe(0);
  });
});
