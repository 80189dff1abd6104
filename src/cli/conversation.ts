/** An SMTP conversation as people read it: `>` what we say, `<` what the server says, `*` the rest. */

import type { Conversation, Step, StepListener } from "../protocols/smtp/conversation.ts";

export type ConversationPrinter = {
  onStep: StepListener;
  /** What did not come by as a step while it happened, such as hosts without an address. */
  rest(conversations: readonly Conversation[]): void;
};

export function conversationPrinter(print: (line: string) => void): ConversationPrinter {
  const printed = new Set<Step>();
  let current: string | null = null;

  function onStep(step: Step, { host, port }: Conversation): void {
    printed.add(step);
    const place = `${host}:${port}`;
    if (place !== current) print(`* ${place}`);
    current = place;
    for (const line of linesOf(step)) print(line);
  }

  return {
    onStep,
    rest(conversations) {
      for (const conversation of conversations) {
        const missed = conversation.steps.filter((step) => !printed.has(step));
        for (const step of missed) onStep(step, conversation);
      }
    },
  };
}

function linesOf({ step, command, code, enhanced, text, ms }: Step): string[] {
  const said = command === null ? [] : [`> ${step === "dot" ? "(the message) ." : command}`];
  const time = `(${ms} ms)`;
  if (code === null) return [...said, `* ${step}: ${text} ${time}`];
  const reply = [code, enhanced, text].filter((part) => part !== null).join(" ");
  return [...said, `< ${reply} ${time}`];
}
