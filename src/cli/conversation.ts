/** Prints an SMTP conversation: `>` marks commands, `<` replies, and `*` other lines. */

import type { Conversation, Step, StepListener } from "../protocols/smtp/conversation.ts";

type ConversationPrinter = {
  onStep: StepListener;
  /** Prints the steps that `onStep` did not get, such as hosts without an address. */
  printRest(conversations: readonly Conversation[]): void;
};

export function conversationPrinter(print: (line: string) => void): ConversationPrinter {
  const printed = new Set<Step>();
  let current: string | null = null;

  function onStep(step: Step, { host, port }: Conversation): void {
    printed.add(step);
    const server = `${host}:${port}`;
    if (server !== current) print(`* ${server}`);
    current = server;
    for (const line of linesOf(step)) print(line);
  }

  return {
    onStep,
    printRest(conversations) {
      for (const conversation of conversations) {
        const missed = conversation.steps.filter((step) => !printed.has(step));
        for (const step of missed) onStep(step, conversation);
      }
    },
  };
}

function linesOf({ step, command, code, enhanced, text, ms }: Step): string[] {
  const sent = command === null ? [] : [`> ${step === "dot" ? "(the message) ." : command}`];
  const time = `(${ms} ms)`;
  if (code === null) return [...sent, `* ${step}: ${text} ${time}`];
  const reply = [code, enhanced, text].filter((part) => part !== null).join(" ");
  return [...sent, `< ${reply} ${time}`];
}
