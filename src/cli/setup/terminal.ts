/** Asks one question at a time in a terminal, and reads the answer line by line. */

import type { Io } from "../io.ts";

/** The user ended the setup with Ctrl-C, or the terminal was closed. */
export class SetupStopped extends Error {}

const LONGEST_LINE = 10_000;

type StdinReader = ReturnType<typeof newReader>;

const newReader = ({ stdin }: Io) => stdin.stream().getReader();

export type Prompter = ReturnType<typeof createPrompter>;

/** `isInteractive` is false without a terminal: then nothing is asked. */
export function createPrompter(io: Io, { isInteractive }: { isInteractive: boolean }) {
  const stopped = io.untilStopped().then((): never => {
    throw new SetupStopped();
  });
  // It is awaited only while a question or a pause is open.
  stopped.catch(() => {});
  let reader: StdinReader | null = null;
  const decoder = new TextDecoder();
  let buffered = "";

  /** The next line without its end. Throws SetupStopped at the end of the input. */
  async function readLine(): Promise<string> {
    const reading = (reader ??= newReader(io));
    for (;;) {
      const end = buffered.indexOf("\n");
      if (end !== -1) {
        const line = buffered.slice(0, end);
        buffered = buffered.slice(end + 1);
        return line.replace(/\r$/, "");
      }
      if (buffered.length > LONGEST_LINE) throw new SetupStopped();
      const chunk = await Promise.race([reading.read(), stopped]);
      if (chunk.done) throw new SetupStopped();
      buffered += decoder.decode(chunk.value, { stream: true });
    }
  }

  return {
    isInteractive,

    /** Resolves with the result, or throws SetupStopped if the user ends the setup before. */
    orStopped: <T>(waiting: Promise<T>): Promise<T> => Promise.race([waiting, stopped]),

    /** Asks for a line. An empty answer is the default; without a default, the question is repeated. */
    async ask(question: string, fallback: string | null): Promise<string> {
      for (;;) {
        await io.stdout.write(`${question}${fallback === null ? "" : ` [${fallback}]`}: `);
        const answer = (await readLine()).trim();
        if (answer !== "") return answer;
        if (fallback !== null) return fallback;
      }
    },

    /** Asks for a line that is not shown while it is typed. It may be empty. */
    async askHidden(question: string): Promise<string> {
      // First, because the answer may be typed as soon as the question is shown.
      io.stdin.showTyping(false);
      try {
        await io.stdout.write(`${question}: `);
        return await readLine();
      } finally {
        io.stdin.showTyping(true);
        io.stdout.line("");
      }
    },

    async confirm(question: string, fallback: boolean): Promise<boolean> {
      for (;;) {
        await io.stdout.write(`${question} [${fallback ? "Y/n" : "y/N"}]: `);
        const answer = (await readLine()).trim().toLowerCase();
        if (answer === "") return fallback;
        if (answer === "y" || answer === "yes") return true;
        if (answer === "n" || answer === "no") return false;
      }
    },

    /** Releases standard input, so that the process can end. */
    async close(): Promise<void> {
      await reader?.cancel();
    },
  };
}
