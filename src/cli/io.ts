/**
 * The parts of its process that a command uses: the streams, the environment and the signals. A
 * command uses nothing else of the process, so that a test can run it beside other commands.
 * `process-io.ts` makes it from a real process.
 */

export type Output = {
  isTerminal: boolean;
  /** Writes a line, completely. */
  line(text: string): void;
  /** Writes a text without a line end. Resolves when the system has it. */
  write(text: string): Promise<void>;
};

export type Io = {
  stdin: {
    isTerminal: boolean;
    stream(): ReadableStream<Uint8Array>;
    /** Whether the terminal shows what is typed; it does again when the program ends. */
    showTyping(isShown: boolean): void;
  };
  stdout: Output;
  stderr: Output;
  env: Readonly<Record<string, string | undefined>>;
  /** The folder to which paths of flags, variables and arguments are relative. */
  cwd: string;
  /** The words that start this program again, for commands that a user can paste. */
  program: string;
  /** Resolves when the program is asked to stop, with SIGTERM or SIGINT. */
  untilStopped(): Promise<void>;
  /**
   * Runs the function at each SIGHUP, until the returned function is called. A program of a terminal ends
   * at this signal, which says that the terminal was closed.
   */
  onReload(run: () => void): () => void;
  /** Runs the function when the program ends, also when its terminal is closed. */
  onEnd(cleanUp: () => void): void;
  /** Gives the function each error that nothing handled. If it returns true, the process ends with 1. */
  onUnhandledError(isFatal: (error: unknown, kind: "exception" | "rejection") => boolean): void;
  /** Releases the memory that only the start of a server needed, and ends the JIT policy of the start. */
  endStart(): void;
  /** Ends the process as a crash does: it closes no database. */
  kill(): Promise<void>;
};
