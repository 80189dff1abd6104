/** A second process with a connection of its own, which runs the statements that the test sends it. */

export type OtherProcess = ReturnType<typeof startOtherProcess>;

export const READ_THINGS = "SELECT count(*) FROM things";

/** `busyMs`: how long its statements wait for locks. One that waits in vain does nothing. */
export function startOtherProcess(file: string, busyMs: number) {
  const source = `
    import { Database } from "bun:sqlite";
    const db = new Database(process.env.FILE);
    db.run("PRAGMA busy_timeout = ${busyMs}");
    process.on("message", (sql) => {
      try {
        db.query(sql).get();
      } catch (error) {
        if (error.code !== "SQLITE_BUSY") throw error;
      }
      process.send("done");
    });`;
  const waiting: (() => void)[] = [];
  const child = Bun.spawn([process.execPath, "-e", source], {
    env: { ...process.env, FILE: file },
    ipc: () => waiting.shift()?.(),
    stdout: "inherit",
    stderr: "inherit",
  });
  const run = (sql: string) =>
    new Promise<void>((resolve) => {
      waiting.push(resolve);
      child.send(sql);
    });
  return {
    run,
    async beginRead(): Promise<void> {
      await run("BEGIN");
      await run(READ_THINGS);
    },
    truncate: () => run("PRAGMA wal_checkpoint(TRUNCATE)"),
    async end(): Promise<void> {
      child.kill();
      await child.exited;
    },
  };
}
